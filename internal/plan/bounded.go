package plan

import (
	"bytes"
	"sync"
)

// maxPrepareOutput limits the stored output of a Prepare, in bytes.
const maxPrepareOutput = 16 << 20

// bounded stores the first limit bytes written to it and marks truncated output.
type bounded struct {
	limit     int
	mu        sync.Mutex
	buf       bytes.Buffer
	truncated bool
}

// Write never fails, so that long output does not end its program.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := b.limit - b.buf.Len()
	if len(p) > room {
		b.truncated = true
		b.buf.Write(p[:room])
		return len(p), nil
	}
	b.buf.Write(p)
	return len(p), nil
}

func (b *bounded) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := bytes.Clone(b.buf.Bytes())
	if b.truncated {
		out = append(out, "\n[output truncated]\n"...)
	}
	return out
}
