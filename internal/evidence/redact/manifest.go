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
	lines := bytes.SplitAfter(in, []byte("\n"))
	changed := false
	for i, line := range lines {
		m := kindSecret.FindSubmatch(bytes.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		first, last := mapping(lines, i, len(m[1]))
		if string(m[2]) == "SecretList" {
			changed = cutData(lines, first, last, -1) || changed
		} else {
			changed = cutData(lines, first, last, len(m[1])) || changed
		}
	}
	if !changed {
		return in
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
func mapping(lines [][]byte, at, col int) (first, last int) {
	ends := func(line []byte) bool {
		c := column(line)
		return c >= 0 && c < col || bytes.HasPrefix(line, []byte("---"))
	}
	dash := func(line []byte) bool {
		return column(line) == col && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("- "))
	}
	for first = at; first > 0 && !dash(lines[first]) && !ends(lines[first-1]); first-- {
	}
	for last = at + 1; last < len(lines) && !dash(lines[last]) && !ends(lines[last]); last++ {
	}
	return first, last
}

// cutData replaces the values below data and stringData in col of those lines;
// -1 is any column.
func cutData(lines [][]byte, first, last, col int) (changed bool) {
	for i := first; i < last; i++ {
		m := dataKey.FindSubmatch(bytes.TrimRight(lines[i], "\n"))
		if m == nil || col >= 0 && len(m[1]) != col {
			if m = lateData.FindSubmatch(bytes.TrimRight(lines[i], "\n")); m == nil {
				continue
			}
		}
		if len(m[2]) > 0 {
			if flow := string(m[2]); flow != "{}" && flow != `"`+mark("secret-data")+`"` {
				lines[i] = append(bytes.Clone(lines[i][:bytes.IndexByte(lines[i], ':')+1]), ` "`+mark("secret-data")+"\"\n"...)
				changed = true
			}
			if m[2][0] != '{' {
				continue
			}
		}
		changed = cutBelow(lines, i+1, last, len(m[1])) || changed
	}
	return changed
}

// cutBelow replaces values and removes what goes on over lines.
func cutBelow(lines [][]byte, from, last, col int) (changed bool) {
	depth := -1
	for i := from; i < last; i++ {
		c := column(lines[i])
		if c >= 0 && c <= col {
			return changed
		}
		if c < 0 {
			continue
		}
		if depth < 0 {
			depth = c
		}
		m := valueKey.FindSubmatch(bytes.TrimRight(lines[i], "\r\n"))
		switch {
		case c > depth, m == nil: // of a value that goes on
			lines[i], changed = nil, true
		case !bytes.Contains(m[2], []byte(mark("secret-data"))) && string(bytes.TrimSpace(m[2])) != `""`:
			lines[i], changed = append(bytes.Clone(m[1]), ` "`+mark("secret-data")+"\"\n"...), true
		}
	}
	return changed
}
