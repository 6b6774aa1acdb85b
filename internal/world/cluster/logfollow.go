package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// logInterval is how often a followed log is read; a kubelet watches the file.
const logInterval = 50 * time.Millisecond

// stampFormat is RFC3339 with nine digits, as a kubelet prints timestamps.
const stampFormat = "2006-01-02T15:04:05.000000000Z07:00"

// logOptions are those of a kubelet's log request.
type logOptions struct {
	// follow the log until the container ends.
	follow     bool
	timestamps bool
	// from is where the log begins in its file.
	from  int64
	since time.Time
	// tail is the number of entries at the end to begin with, limit the most bytes to send; nil for all.
	tail, limit *int64
}

// followLog sends a log in podLog's format until over reports that it is complete. It is of our own:
// the kubelet's reader (k8s.io/cri-client) brings a gRPC client and OpenTelemetry, 0.7 MB of the binary.
func followLog(ctx context.Context, path string, o logOptions, over func() bool, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	defer f.Close()
	if err := seekTail(f, o.from, o.tail); err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	s := &logSender{options: o, out: out, read: bufio.NewReader(f), newLine: true}
	err = poll.Until(ctx, logInterval, "the end of the log", func(context.Context) error {
		complete := over() // before the last read
		if err := s.send(); err != nil {
			return poll.Stop(err)
		}
		if !complete {
			return errRunning
		}
		return nil
	})
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

var (
	errRunning = errors.New("the container runs")
	errLimit   = errors.New("limit of bytes reached")
)

// seekTail moves to the last n entries of the log that begins at from; nil: to all.
func seekTail(f *os.File, from int64, n *int64) error {
	if _, err := f.Seek(from, io.SeekStart); err != nil || n == nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	at := bytes.LastIndexByte(data, '\n') + 1
	for i := int64(0); i < *n && at > 0; i++ {
		at = bytes.LastIndexByte(data[:at-1], '\n') + 1
	}
	_, err = f.Seek(from+int64(at), io.SeekStart)
	return err
}

// logSender sends the entries of a log that is written.
type logSender struct {
	options logOptions
	out     io.Writer
	read    *bufio.Reader
	rest    []byte // of an entry that is not complete
	newLine bool   // the next entry begins a line
	sent    int64
}

// send sends the entries that are complete.
func (s *logSender) send() error {
	for {
		piece, err := s.read.ReadBytes('\n')
		s.rest = append(s.rest, piece...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if err := s.entry(s.rest); err != nil {
			return err
		}
		s.rest = s.rest[:0]
	}
}

// entry sends one entry, "<RFC3339Nano> stdout <F|P> text\n"; P: the next entry continues the line.
func (s *logSender) entry(entry []byte) error {
	const parts = 4
	fields := bytes.SplitN(entry, []byte(" "), parts)
	if len(fields) < parts {
		return fmt.Errorf("log entry %.60q is not in CRI format", entry)
	}
	at, err := time.Parse(time.RFC3339Nano, string(fields[0]))
	if err != nil {
		return fmt.Errorf("log entry: %w", err)
	}
	begins := s.newLine
	text := fields[3]
	s.newLine = string(fields[2]) == "F"
	if !s.newLine {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	if at.Before(s.options.since) {
		return nil
	}
	if begins && s.options.timestamps {
		text = append([]byte(at.Format(stampFormat)+" "), text...)
	}
	limit := s.options.limit
	if limit != nil {
		text = text[:min(int64(len(text)), *limit-s.sent)]
	}
	n, err := s.out.Write(text)
	s.sent += int64(n)
	if err != nil {
		return fmt.Errorf("send log: %w", err)
	}
	if limit != nil && s.sent >= *limit {
		return errLimit
	}
	return nil
}
