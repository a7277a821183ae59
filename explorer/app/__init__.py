"""The Streamlit app: its frame, and a folder for each lesson."""
