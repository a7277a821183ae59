"""Glossary."""

import streamlit as st

st.title("Glossary")
