"""Vote."""

import streamlit as st

st.title("Vote")
