package plan

import (
	"bytes"
	"sync"
)

// maxPrepareOutput is how much of what a Prepare prints is kept.
const maxPrepareOutput = 16 << 20

// bounded keeps the first limit bytes written to it and says when there were more.
type bounded struct {
	limit int
	mu    sync.Mutex
	buf   bytes.Buffer
	over  bool
}

// Write never fails, so that a long output does not end its program.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	room := b.limit - b.buf.Len()
	if len(p) > room {
		b.over = true
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
	if b.over {
		out = append(out, "\n[output cut here]\n"...)
	}
	return out
}
