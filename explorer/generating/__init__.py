"""Models as steppers, and what is made with them: texts, filled blanks, and the attention of a text as it is written."""
