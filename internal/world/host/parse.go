package host

import (
	"errors"
	"fmt"
	"strings"
)

// step is one command of a line.
type step struct {
	argv []string
	// after is the preceding operator: "", ";", "&&" or "||".
	after             string
	mergeErr, dropErr bool // 2>&1, 2>/dev/null
}

// parse splits a command line into commands and words: quotes, backslashes, sequences and two
// redirections. It supports no variables, pipes or files.
func parse(line string) ([]step, error) {
	words, err := split(line)
	if err != nil {
		return nil, err
	}
	var steps []step
	cur := step{}
	flush := func(op string) {
		if len(cur.argv) > 0 {
			steps = append(steps, cur)
		}
		cur = step{after: op}
	}
	for _, w := range words {
		if w.quoted {
			cur.argv = append(cur.argv, w.text)
			continue
		}
		switch w.text {
		case ";", "&&", "||":
			flush(w.text)
		case "2>&1":
			cur.mergeErr = true
		case "2>/dev/null":
			cur.dropErr = true
		case "|", ">", ">>", "<", "&":
			return nil, errors.New("'" + w.text + "' is not supported on this host")
		default:
			cur.argv = append(cur.argv, w.text)
		}
	}
	flush("")
	return steps, nil
}

type word struct {
	text   string
	quoted bool
}

// splitter collects the words of a line.
type splitter struct {
	words          []word
	b              strings.Builder
	inWord, quoted bool
}

func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, word{s.b.String(), s.quoted})
	}
	s.b.Reset()
	s.inWord, s.quoted = false, false
}

// quote consumes the text after an opening quote; n includes the closing quote.
func (s *splitter) quote(r []rune, q rune) (n int, err error) {
	for i := 0; i < len(r); i++ {
		if r[i] == q {
			s.inWord, s.quoted = true, true
			return i + 1, nil
		}
		if q == '"' && r[i] == '\\' && i+1 < len(r) {
			i++
		}
		s.b.WriteRune(r[i])
	}
	return 0, fmt.Errorf("unexpected EOF while looking for matching `%c'", q)
}

func split(line string) ([]word, error) {
	var s splitter
	r := []rune(line)
	for i := 0; i < len(r); i++ {
		switch ch := r[i]; ch {
		case ' ', '\t', '\n', '\r':
			s.end()
		case ';':
			s.end()
			s.words = append(s.words, word{text: ";"})
		case '\'', '"':
			n, err := s.quote(r[i+1:], ch)
			if err != nil {
				return nil, err
			}
			i += n
		case '\\':
			if i+1 < len(r) {
				i++
				s.b.WriteRune(r[i])
				s.inWord = true
			}
		default:
			s.b.WriteRune(ch)
			s.inWord = true
		}
	}
	s.end()
	return s.words, nil
}
