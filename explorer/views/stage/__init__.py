"""The stage of every figure that moves: objects that keep their identity from frame to frame, and one player."""
