package redact

import (
	"slices"
	"strings"
)

// searched is a text in lower case in which many words are searched. Most of them have two letters that
// do not follow each other anywhere in it, which takes no search: an output of 150 KB of each host of a
// large cluster is searched for 80 words.
type searched struct {
	text string
	// pairs has a bit for each two bytes that follow each other; nil for a short text.
	pairs []uint64
}

// shortText is the length up to which a search is cheaper than the pairs.
const shortText = 1 << 10

func lowerCase(in []byte) *searched {
	s := &searched{text: strings.ToLower(string(in))}
	if len(s.text) <= shortText {
		return s
	}
	s.pairs = make([]uint64, 1<<16/64)
	for i := range len(s.text) - 1 {
		bit := pair(s.text, i)
		s.pairs[bit/64] |= 1 << (bit % 64)
	}
	return s
}

func pair(text string, at int) uint16 { return uint16(text[at])<<8 | uint16(text[at+1]) }

// has reports whether the text has a word.
func (s *searched) has(word string) bool {
	if s.pairs != nil {
		for i := range len(word) - 1 {
			if bit := pair(word, i); s.pairs[bit/64]&(1<<(bit%64)) == 0 {
				return false
			}
		}
	}
	return strings.Contains(s.text, word)
}

// hasOne reports whether the text has one of the words.
func (s *searched) hasOne(words []string) bool { return slices.ContainsFunc(words, s.has) }
