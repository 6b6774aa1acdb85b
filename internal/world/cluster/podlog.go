package cluster

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// maxLogLine is where a container runtime splits a line; all parts but the last have the tag P.
const maxLogLine = 16 << 10

// podLog is a container's log file in CRI format: "<RFC3339Nano> stdout F text". It is safe for
// concurrent use. A rotated log stays in the file, for those who follow it.
type podLog struct {
	now func() time.Time
	// maxBytes is the size at which a kubelet rotates the log; 0: never.
	maxBytes int64

	mu   sync.Mutex
	file *os.File
	rest []byte // incomplete last line
	size int64
	// current is where what a kubelet has not rotated away begins.
	current int64
}

func createPodLog(path string, now func() time.Time) (*podLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create pod log: %w", err)
	}
	return &podLog{now: now, file: f}, nil
}

// Write appends standard output of the container.
func (l *podLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	var out bytes.Buffer
	stamp := l.now().UTC().Format(time.RFC3339Nano)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			break
		}
		entry(&out, stamp, l.rest[:end])
		l.rest = l.rest[end+1:]
	}
	if out.Len() == 0 {
		return len(p), nil
	}
	if _, err := l.file.Write(out.Bytes()); err != nil {
		return 0, fmt.Errorf("write pod log: %w", err)
	}
	if l.maxBytes > 0 && l.size-l.current > l.maxBytes {
		l.current = l.size
	}
	l.size += int64(out.Len())
	return len(p), nil
}

// rotated is where the current file of the log begins; 0: it was not rotated.
func (l *podLog) rotated() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// Close writes an incomplete line as it is.
func (l *podLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out bytes.Buffer
	if len(l.rest) > 0 {
		entry(&out, l.now().UTC().Format(time.RFC3339Nano), l.rest)
		l.rest = nil
	}
	_, err := l.file.Write(out.Bytes())
	if cerr := l.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("close pod log: %w", err)
	}
	return nil
}

func entry(out *bytes.Buffer, stamp string, line []byte) {
	for len(line) > maxLogLine {
		fmt.Fprintf(out, "%s stdout P %s\n", stamp, line[:maxLogLine])
		line = line[maxLogLine:]
	}
	fmt.Fprintf(out, "%s stdout F %s\n", stamp, line)
}
