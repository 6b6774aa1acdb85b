package redact

import (
	"bytes"
	"regexp"
)

var (
	blockKey = regexp.MustCompile(`^([ \t]*(?:- )?)["']?([A-Za-z0-9_.-]{1,100})["']?:[ \t]*[|>][+-]?[0-9]?[+-]?[ \t]*\r?$`)
	// flowSecret is a Secret within braces, flowData its data.
	flowSecret = regexp.MustCompile(`[{,][ \t]*["']?kind["']?[ \t]*:[ \t]*["']?Secret(?:List)?["']?[ \t]*[,}]`)
	flowData   = regexp.MustCompile(`(\b["']?(?:data|stringData)["']?[ \t]*:[ \t]*)\{[^{}]*\}`)
)

// blocks takes out values that are YAML block scalars, by their keys, and the data of
// Secrets in YAML flow.
func blocks(in []byte) []byte {
	lines := bytes.SplitAfter(in, []byte("\n"))
	changed := false
	for i := 0; i < len(lines); i++ {
		if flowSecret.Match(lines[i]) {
			if out := withoutFlow(lines[i]); !bytes.Equal(out, lines[i]) {
				lines[i], changed = out, true
			}
			continue
		}
		m := blockKey.FindSubmatch(bytes.TrimRight(lines[i], "\n"))
		if m == nil {
			continue
		}
		last, value := block(lines, i, len(m[1]))
		kind := keyKind(string(m[2]), value)
		if kind == "" || last == i+1 {
			continue
		}
		colon := bytes.LastIndexByte(lines[i], ':')
		lines[i] = append(bytes.Clone(lines[i][:colon+1]), ` "`+mark(kind)+"\"\n"...)
		for j := i + 1; j < last; j++ {
			lines[j] = nil
		}
		changed, i = true, last-1
	}
	if !changed {
		return in
	}
	return bytes.Join(lines, nil)
}

func withoutFlow(line []byte) []byte {
	return flowData.ReplaceAllFunc(line, func(m []byte) []byte {
		if bytes.Contains(m, []byte(markStart)) || bytes.HasSuffix(m, []byte("{}")) {
			return m
		}
		return append(bytes.Clone(m[:bytes.IndexByte(m, ':')+1]), ` "`+mark("secret-data")+`"`...)
	})
}

// block returns the last line and the value of a block scalar whose key is in col.
func block(lines [][]byte, at, col int) (last int, value string) {
	var words [][]byte
	for last = at + 1; last < len(lines); last++ {
		text := bytes.TrimLeft(lines[last], " \t")
		if bare := bytes.TrimSpace(text); len(bare) > 0 {
			if len(lines[last])-len(text) <= col {
				break
			}
			words = append(words, bare)
		}
	}
	return last, string(bytes.Join(words, nil))
}
