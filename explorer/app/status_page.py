"""Status."""

import streamlit as st

st.title("Status")
