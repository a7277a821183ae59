"""One Streamlit script for each lesson."""
