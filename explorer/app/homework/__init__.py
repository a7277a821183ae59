"""Homework: a lesson as one HTML file that works without Python and without a network, and what is handed in, read for the teacher."""
