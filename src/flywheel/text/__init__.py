"""Text: redaction, token counts, words, and making remembered text inert. Pure."""
