"""What a lesson computes and asks besides its pictures: one module for each lesson, shared by its page and its notebook."""
