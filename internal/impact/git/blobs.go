package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// MaxFile is the size in bytes from which a file's content is not loaded. Files of a recipe
// tree must be smaller (yamlstrict.MaxSize).
const MaxFile = 8 << 20

// Blobs caches contents by ID, so that the common files of two commits are read once.
type Blobs struct {
	mu sync.Mutex
	m  map[string][]byte // nil: larger than MaxFile
}

// NewBlobs returns an empty cache of file contents.
func NewBlobs() *Blobs { return &Blobs{m: map[string][]byte{}} }

func (b *Blobs) get(id string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.m[id]
}

// read loads missing contents with one git command.
func (r *Repo) read(ctx context.Context, ids []string, into *Blobs) error {
	into.mu.Lock()
	defer into.mu.Unlock()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, there := into.m[id]; return there })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) == 0 {
		return nil
	}
	args := []string{"cat-file", "--batch", "--buffer"}
	var said bytes.Buffer
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // kills the command if its output is invalid
	cmd := r.command(ctx, args...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(ids, "\n")+"\n"), &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return failure(ctx, args, "", err)
	}
	readErr := readBatch(bufio.NewReaderSize(out, 1<<16), ids, into.m)
	if readErr != nil {
		cancel()
	}
	if err := cmd.Wait(); err != nil && readErr == nil {
		return failure(ctx, args, said.String(), err)
	}
	return readErr
}

// Content returns the content of a file of a commit.
func (r *Repo) Content(ctx context.Context, e Entry, blobs *Blobs) ([]byte, error) {
	if err := r.read(ctx, []string{e.ID}, blobs); err != nil {
		return nil, err
	}
	data := blobs.get(e.ID)
	if data == nil {
		return nil, fmt.Errorf("read %s: %w", e.Path, errTooLarge)
	}
	return data, nil
}

// readBatch reads one answer for each ID: a line "ID blob SIZE", the content, a newline.
func readBatch(in *bufio.Reader, ids []string, into map[string][]byte) error {
	for _, id := range ids {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read file %.12s of a commit: %w", id, err)
		}
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != id || fields[1] != "blob" {
			return fmt.Errorf("read file %.12s of a commit: unexpected output of git %q", id, strings.TrimSpace(line))
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read file %.12s of a commit: %w", id, err)
		}
		var data []byte
		if size <= MaxFile {
			data = make([]byte, size)
			_, err = io.ReadFull(in, data)
		} else {
			_, err = io.CopyN(io.Discard, in, size)
		}
		if err == nil {
			_, err = in.Discard(1)
		}
		if err != nil {
			return fmt.Errorf("read file %.12s of a commit: %w", id, err)
		}
		into[id] = data
	}
	return nil
}
