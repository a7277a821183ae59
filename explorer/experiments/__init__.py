"""Measurements that lessons show as recorded results: each module measures one, and one command makes it again."""
