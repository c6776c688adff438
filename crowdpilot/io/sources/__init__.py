"""Where votes come from: streams, archives, workbooks, text in any encoding, with a header or without."""
