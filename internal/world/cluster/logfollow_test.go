package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// An entry is sent once it is complete; a followed log ends with the last entry before over.
func TestFollowLog(t *testing.T) {
	t.Parallel()
	const log = "2026-11-21T10:00:00.5Z stdout F one\n" + "2026-11-21T10:00:01Z stdout P tw\n" + "2026-11-21T10:00:01Z stdout F o\n" + "2026-11-21T10:00:02Z stdout F three\n"
	count := func(n int64) *int64 { return &n }
	for name, tt := range map[string]struct {
		options logOptions
		want    string
	}{
		"all":                   {logOptions{}, "one\ntwo\nthree\n"},
		"timestamps":            {logOptions{timestamps: true}, "2026-11-21T10:00:00.500000000Z one\n2026-11-21T10:00:01.000000000Z two\n2026-11-21T10:00:02.000000000Z three\n"},
		"since":                 {logOptions{since: time.Date(2026, 11, 21, 10, 0, 2, 0, time.UTC)}, "three\n"},
		"the last entry":        {logOptions{tail: count(1)}, "three\n"},
		"more than there are":   {logOptions{tail: count(9)}, "one\ntwo\nthree\n"},
		"only new entries":      {logOptions{tail: count(0)}, ""},
		"from the second entry": {logOptions{from: int64(len("2026-11-21T10:00:00.5Z stdout F one\n"))}, "two\nthree\n"},
		"the last one from it":  {logOptions{from: int64(len("2026-11-21T10:00:00.5Z stdout F one\n")), tail: count(1)}, "three\n"},
		"limit inside an entry": {logOptions{limit: count(5)}, "one\nt"},
		"limit of no bytes":     {logOptions{limit: count(0)}, ""},
		"limit beyond the log":  {logOptions{limit: count(99)}, "one\ntwo\nthree\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "0.log")
			if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := followLog(t.Context(), path, tt.options, func() bool { return true }, &out); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("%q, want %q", out.String(), tt.want)
			}
		})
	}
}

func TestFollowLogWhileWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0.log")
	synctest.Test(t, func(t *testing.T) {
		l, err := createPodLog(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		var over atomic.Bool
		var out bytes.Buffer
		done := make(chan error, 1)
		go func() { done <- followLog(t.Context(), path, logOptions{}, over.Load, &out) }()
		var want strings.Builder
		for _, text := range []string{"one\n", strings.Repeat("x", maxLogLine+3) + "\n", "three\n"} {
			if _, err := l.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			want.WriteString(text)
			<-time.After(2 * logInterval)
			synctest.Wait()
			if out.String() != want.String() {
				t.Errorf("%d bytes, want %d", out.Len(), want.Len())
			}
		}
		if _, err := l.Write([]byte("last")); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		over.Store(true)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), "three\nlast\n") {
			t.Errorf("the end is %q", out.String()[want.Len():])
		}
	})
}

func TestFollowLogEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0.log")
	if err := os.WriteFile(path, []byte("no entry\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := followLog(t.Context(), path, logOptions{}, func() bool { return false }, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "CRI format") {
		t.Errorf("an entry in another format: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	client := errors.New("the client left")
	cancel(client)
	if err := followLog(ctx, path, logOptions{}, func() bool { return false }, &bytes.Buffer{}); !errors.Is(err, client) {
		t.Errorf("a client that left: %v", err)
	}
}
