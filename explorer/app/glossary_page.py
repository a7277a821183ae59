"""The page of the glossary: every term with its meaning, in the order of the alphabet."""

import streamlit as st

from explorer.app.glossary import TERMS

st.title("Glossary")
st.markdown(
    "What the words mean on these pages. On a lesson's page a word is underlined where it first occurs: point at it, or tap it."
)
wanted = st.text_input("Find a word", key="find", bind="query-params", width=320, max_chars=60).strip().casefold()
shown = [term for term in sorted(TERMS, key=lambda term: term.name.strip("[σθ ").casefold()) if wanted in term.name.casefold()]
if not shown:
    st.info("No term has these letters. Clear the box to see all of them.")
each = -(-len(shown) // 3)
for column, first in zip(st.columns(3, gap="medium"), range(0, 3 * each, each or 1), strict=False):
    lines = (
        f"<span id='{term.anchor}'></span>**{term.name.replace('[', chr(92) + '[')}**: {term.says}"
        for term in shown[first : first + each]
    )
    column.markdown("\n\n".join(lines), unsafe_allow_html=True)  # texts of this file alone
