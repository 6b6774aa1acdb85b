package certificate

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// fits reports whether a waiver's text is that of a deviation, or whole words of it that name what is
// accepted: a waiver of gpu-1 is not one of gpu-12, and one of 348 GB/s not one of 120.
func (c *Certificate) fits(says string, d Deviation) bool {
	if slices.ContainsFunc(c.essential(d), func(part string) bool { return !hasWords(says, part) }) {
		return false
	}
	return hasWords(d.Text, says)
}

// essential are the parts of a deviation that its waiver must have: the node that is left out, or the
// measured values of a figure of the contract.
func (c *Certificate) essential(d Deviation) []string {
	if rest, ok := strings.CutPrefix(d.Text, "left out: "); ok && d.Suspect == suspectRun {
		if node, _, ok := strings.Cut(rest, ", which failed gate "); ok {
			return []string{node}
		}
	}
	for _, f := range c.Figures {
		if f.Gate != d.Gate || f.Figure != d.Suspect || f.missed() != d.Text {
			continue
		}
		if len(f.Measured) == 0 {
			return []string{"not measured"}
		}
		var out []string
		for _, v := range f.Measured {
			out = append(out, strconv.FormatFloat(v, 'f', -1, 64))
		}
		return out
	}
	return nil
}

// hasWords reports whether a text has a part that neither begins nor ends within a word of it.
func hasWords(text, part string) bool {
	all, of := []rune(text), []rune(part)
	for at := 0; len(of) > 0 && at+len(of) <= len(all); at++ {
		if slices.Equal(all[at:at+len(of)], of) && !withinWord(all, at) && !withinWord(all, at+len(of)) {
			return true
		}
	}
	return false
}

// withinWord reports whether the characters before and at a place are of one word. Names, paths and
// numbers are words: gpu-1.example, gpu-1/mlx5_0, 1.5.
func withinWord(text []rune, at int) bool { return ofWord(text, at-1) && ofWord(text, at) }

func ofWord(text []rune, at int) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(text) && (unicode.IsLetter(text[i]) || unicode.IsDigit(text[i]))
	}
	switch {
	case at < 0 || at >= len(text):
		return false
	case strings.ContainsRune("./:,", text[at]):
		return letter(at-1) && letter(at+1)
	default:
		return letter(at) || text[at] == '-' || text[at] == '_'
	}
}
