package redact

import (
	"bytes"
	"regexp"
)

var (
	kindSecret = regexp.MustCompile(`^([ \t]*(?:- )?)kind:[ \t]*["']?(Secret|SecretList)["']?[ \t]*\r?$`)
	dataKey    = regexp.MustCompile(`^([ \t]*(?:- )?)(?:data|stringData):[ \t]*(.*?)[ \t]*\r?$`)
	// lateData is such a key behind other words on its line.
	lateData = regexp.MustCompile(`^([ \t]*)\S.*\s(?:data|stringData):[ \t]*()\r?$`)
	valueKey = regexp.MustCompile(`^([ \t]*[^\s:#][^:]*:)([ \t]+\S.*|[ \t]*)$`)
)

// secretManifests takes the data out of the Secrets among YAML manifests.
func secretManifests(in []byte) []byte {
	var m manifests
	return m.cut(in)
}

// manifests is a text whose Secrets are cut. Each line is taken apart once, and each
// mapping is looked through once a column: the work grows with the text.
type manifests struct {
	lines   []manifestLine // those with text
	changed bool
	// steps counts the lines read.
	steps int
}

// manifestLine is one line with text in it.
type manifestLine struct {
	text []byte // with its line feed; nil where it was removed
	// column is where the text begins, behind a list's dash.
	column int
	// dash says that the line begins an item, document that it begins a document.
	dash, document bool
	// data is what dataKey finds, lateData the same for one behind other words.
	data, lateData [][]byte
	at             int // its number
}

func newLine(text []byte, at int) manifestLine {
	l := manifestLine{text: text, column: column(text), at: at, document: bytes.HasPrefix(text, []byte("---"))}
	l.dash = bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte("- "))
	if bytes.Contains(text, []byte("ata:")) {
		bare := bytes.TrimRight(text, "\n")
		if l.data = dataKey.FindSubmatch(bare); l.data == nil || len(l.data[1]) != l.column {
			l.lateData = lateData.FindSubmatch(bare)
		}
	}
	return l
}

func (m *manifests) cut(in []byte) []byte {
	lines := bytes.SplitAfter(in, []byte("\n"))
	for i, text := range lines {
		if column(text) >= 0 {
			m.lines = append(m.lines, newLine(text, i))
		}
	}
	done := map[int]int{} // the end of the last mapping that was cut, by column
	for i := range m.lines {
		kind := kindSecret.FindSubmatch(bytes.TrimRight(m.lines[i].text, "\n"))
		if kind == nil || i < done[m.lines[i].column] {
			continue
		}
		first, last := m.mapping(i, len(kind[1]))
		done[m.lines[i].column] = last
		m.cutData(first, last, len(kind[1]), string(kind[2]) == "SecretList")
	}
	if !m.changed {
		return in
	}
	for _, l := range m.lines {
		lines[l.at] = l.text
	}
	return bytes.Join(lines, nil)
}

// column is where a line's text begins, behind a list's dash; -1 for an empty one.
func column(line []byte) int {
	text := bytes.TrimLeft(line, " \t")
	if len(bytes.TrimSpace(text)) == 0 {
		return -1
	}
	at := len(line) - len(text)
	if bytes.HasPrefix(text, []byte("- ")) {
		at += 2
	}
	return at
}

// mapping are the lines of the mapping that line at is of, whose keys begin in
// col: [first, last).
func (m *manifests) mapping(at, col int) (first, last int) {
	ends := func(l manifestLine) bool { m.steps++; return l.column < col || l.document }
	dash := func(l manifestLine) bool { return l.dash && l.column == col }
	for first = at; first > 0 && !dash(m.lines[first]) && !ends(m.lines[first-1]); first-- {
	}
	for last = at + 1; last < len(m.lines) && !dash(m.lines[last]) && !ends(m.lines[last]); last++ {
	}
	return first, last
}

// cutData replaces the values below data and stringData in col of those lines, or in any
// column.
func (m *manifests) cutData(first, last, col int, anyColumn bool) {
	for i := first; i < last; i++ {
		m.steps++
		found := m.lines[i].data
		if found == nil || !anyColumn && len(found[1]) != col {
			if found = m.lines[i].lateData; found == nil {
				continue
			}
		}
		if m.lines[i].text == nil {
			continue
		}
		if value := string(found[2]); len(value) > 0 {
			if value != "{}" && value != `"`+mark("secret-data")+`"` {
				m.replace(i, m.lines[i].text[:bytes.IndexByte(m.lines[i].text, ':')+1])
			}
			if value[0] != '{' {
				continue
			}
		}
		m.cutBelow(i+1, last, len(found[1]))
	}
}

// cutBelow replaces values and removes their continuation lines.
func (m *manifests) cutBelow(from, last, col int) {
	depth := -1
	for i := from; i < last; i++ {
		m.steps++
		l := &m.lines[i]
		if l.column <= col {
			return
		}
		if l.text == nil {
			continue
		}
		if depth < 0 {
			depth = l.column
		}
		value := valueKey.FindSubmatch(bytes.TrimRight(l.text, "\r\n"))
		switch {
		case l.column > depth, value == nil: // continuation line of a value
			l.text, m.changed = nil, true
		case !bytes.Contains(value[2], []byte(mark("secret-data"))) && string(bytes.TrimSpace(value[2])) != `""`:
			m.replace(i, value[1])
		}
	}
}

// replace keeps the key of a line and marks that its value is gone.
func (m *manifests) replace(i int, key []byte) {
	m.lines[i].text = append(bytes.Clone(key), ` "`+mark("secret-data")+"\"\n"...)
	m.changed = true
}
