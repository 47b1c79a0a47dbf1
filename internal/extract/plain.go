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
	result := &Result{Text: text}
	switch format {
	case Markdown:
		result.Marks = markdownMarks(text)
	case CSV:
		result.Marks, result.Header = csvMarks(text)
	}
	return result, nil
}
