"""The three places where a picture is shown: a web page, a notebook, a file. They know views and records, and no lesson."""
