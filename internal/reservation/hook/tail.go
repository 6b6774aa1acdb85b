package hook

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"

	"github.com/firstlight/firstlight/internal/evidence/redact"
)

const (
	// logLines are kept of a log, each of at most logLine bytes.
	maxLines = 20
	maxLineBytes  = 4 << 10
)

// tail keeps the last lines that are written to it, and tells each to others. The values of
// secrets are cut out of a line before anybody sees it.
type logTail struct {
	secrets *strings.Replacer
	tell    func(line string) // nil: nobody

	mu    sync.Mutex
	part  []byte // a line that has not ended
	lines []string
}

// newTail takes the secrets by name.
func newTail(secrets map[string]string, tell func(string)) *logTail {
	var pairs []string
	for name, value := range secrets {
		pairs = append(pairs, encodings(value, "["+name+"]")...)
		for line := range strings.Lines(value) { // a line of it is as secret as all of it
			if line = strings.TrimSpace(line); line != "" {
				pairs = append(pairs, line, "["+name+"]")
			}
		}
	}
	return &logTail{secrets: strings.NewReplacer(pairs...), tell: tell}
}

// encodings are what else a value is printed as: base64, and within JSON.
func encodings(value, mark string) []string {
	var pairs []string
	for _, v := range []string{value, strings.TrimSpace(value)} {
		if len(v) < 6 { // its base64 is part of many a word
			continue
		}
		pairs = append(pairs, base64.StdEncoding.EncodeToString([]byte(v)), mark, base64.RawURLEncoding.EncodeToString([]byte(v)), mark)
		if quoted, err := json.Marshal(v); err == nil {
			pairs = append(pairs, string(quoted[1:len(quoted)-1]), mark)
		}
	}
	return pairs
}

// Write never fails.
func (t *logTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			t.hold(rest)
			break
		}
		t.hold(rest[:end])
		t.end()
		rest = rest[end+1:]
	}
	return len(p), nil
}

func (t *logTail) hold(p []byte) {
	t.part = append(t.part, p[:min(len(p), maxLineBytes-len(t.part))]...)
}

func (t *logTail) end() {
	line := redact.String(t.secrets.Replace(strings.ToValidUTF8(strings.TrimRight(string(t.part), "\r"), "?")))
	t.part = t.part[:0]
	if strings.TrimSpace(line) == "" {
		return
	}
	if t.lines = append(t.lines, line); len(t.lines) > maxLines {
		t.lines = t.lines[1:]
	}
	if t.tell != nil {
		t.tell(line)
	}
}

// last are the last lines, with one that has not ended.
func (t *logTail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.part) > 0 {
		t.end()
	}
	return append([]string(nil), t.lines...)
}

// bounded keeps what is written to it, up to a size; more is an error of whoever reads it.
type boundedBuffer struct {
	buf  bytes.Buffer
	over bool
}

// Write takes everything, so that whoever writes is not stopped by it.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	room := MaxSize - b.buf.Len()
	if len(p) > room {
		b.over = true
	}
	b.buf.Write(p[:min(len(p), room)])
	return len(p), nil
}
