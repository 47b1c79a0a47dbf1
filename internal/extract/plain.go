package extract

// readPlain reads the text formats, which are their own text.
func readPlain(src source, format Format, limits Limits) (*Result, error) {
	data, err := src.readAll(int64(limits.Text))
	if err != nil {
		return nil, err
	}
	if !isText(data[:min(len(data), HeadSize)]) {
		return nil, wrongContent(format, data[:min(len(data), HeadSize)])
	}
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	text = clean(text)
	if len(text) > limits.Text {
		return nil, failTooLarge
	}
	switch format {
	case CSV:
		return csvText(text, limits)
	case Markdown:
		return markdownText(text, limits)
	}
	return &Result{Text: text}, nil
}
