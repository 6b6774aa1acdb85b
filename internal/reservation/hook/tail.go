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
	// Bounds of a log tail: lines, and bytes per line.
	maxLines     = 20
	maxLineBytes = 4 << 10
)

// logTail keeps the last lines and passes each to tell. Secrets are redacted before.
type logTail struct {
	secrets *strings.Replacer
	tell    func(line string) // optional

	mu    sync.Mutex
	part  []byte // an incomplete line
	lines []string
}

func newTail(secrets map[string]string, tell func(string)) *logTail {
	var pairs []string
	for name, value := range secrets {
		pairs = append(pairs, encodings(value, "["+name+"]")...)
		for line := range strings.Lines(value) { // each line of a secret is secret
			if line = strings.TrimSpace(line); line != "" {
				pairs = append(pairs, line, "["+name+"]")
			}
		}
	}
	return &logTail{secrets: strings.NewReplacer(pairs...), tell: tell}
}

// encodings returns the other forms in which a value is printed: base64, and in JSON.
func encodings(value, mark string) []string {
	var pairs []string
	for _, v := range []string{value, strings.TrimSpace(value)} {
		if len(v) < 6 { // too short: its base64 matches ordinary words
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

// last returns the last lines, an incomplete one included.
func (t *logTail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.part) > 0 {
		t.end()
	}
	return append([]string(nil), t.lines...)
}

// boundedBuffer keeps the first MaxSize bytes; over is set if there were more.
type boundedBuffer struct {
	buf  bytes.Buffer
	over bool
}

// Write accepts everything, so that the writer does not block.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	room := MaxSize - b.buf.Len()
	if len(p) > room {
		b.over = true
	}
	b.buf.Write(p[:min(len(p), room)])
	return len(p), nil
}
