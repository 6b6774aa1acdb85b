// Package growth measures how the work and the memory of a reader grow with its text: eight times the text takes about
// eight times the work, and not 64 times, whatever the text is. It compares the processor time of the reader's thread. A
// busy machine also slows the thread, by less than the distance between the two. Memory is what the process allocates,
// so no other test may run at the same time.
package growth

import (
	"hash/fnv"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firstlight/firstlight/internal/suite"
)

// Text is one piece again and again, behind a head that makes a reader believe the rest, and before a tail that ends a
// document. "{n}" in the piece is its number.
type Text struct{ Name, Head, Again, Tail string }

// Of returns about size bytes of the text.
func (t Text) Of(size int) []byte {
	var b strings.Builder
	b.WriteString(t.Head)
	if before, after, numbered := strings.Cut(t.Again, "{n}"); numbered {
		for i := 0; b.Len() < size; i++ {
			b.WriteString(before + strings.ReplaceAll(strconv.Itoa(i)+after, "{n}", strconv.Itoa(i)))
		}
	} else {
		b.WriteString(strings.Repeat(t.Again, size/len(t.Again)+1))
	}
	b.WriteString(t.Tail)
	return []byte(b.String())
}

// Linear fails the test if a reader takes more than linear work or memory over one of the texts. In make test each
// reader has a quarter of them, which is always the same: with the race detector all of them take minutes.
func Linear(t *testing.T, name string, read func([]byte), texts ...Text) {
	t.Helper()
	for _, text := range sample(name, texts) {
		if ratio := Ratio(read, text.Of); ratio > Most {
			t.Errorf("%s over %s: eight times the text is %.1f times the work", name, text.Name, ratio)
		}
		if ratio := Memory(read, text.Of); ratio > Most {
			t.Errorf("%s over %s: eight times the text is %.1f times the memory", name, text.Name, ratio)
		}
	}
}

func sample(name string, texts []Text) []Text {
	const parts = 4
	if suite.Current() >= suite.All || len(texts) < parts {
		return texts
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	var out []Text
	for i := int(h.Sum32() % parts); i < len(texts); i += parts {
		out = append(out, texts[i])
	}
	return out
}

const (
	// Most is between 8, which is linear, and 64, which is quadratic.
	Most = 20
	// leastWork is what can be compared: less than this is noise.
	leastWork = 10 * time.Millisecond
	// leastMemory is bytes per byte of text. A reader that makes a tree of small nodes takes about a hundred.
	leastMemory = 200
	base        = 8 << 10
)

// Ratio is how much more work eight times the text is, at the size where that is least: regexp
// changes to a slower matcher at a length between two sizes, once.
func Ratio(read func([]byte), text func(size int) []byte) float64 {
	ratio := from(base, read, text)
	if ratio > Most {
		ratio = min(ratio, from(8*base, read, text))
	}
	return ratio
}

// from compares a size with eight times as much. The least of several attempts counts, since garbage collection, page
// faults and neighbours only ever add. The smaller size has several before the first comparison: one slow measurement
// must not hide a growth.
func from(size int, read func([]byte), text func(size int) []byte) float64 {
	large := work(read, text(8*size))
	if large < leastWork {
		return 0
	}
	small := work(read, text(size))
	for range 4 {
		small = min(small, work(read, text(size)))
	}
	for range 12 {
		if float64(large) <= Most*float64(small) {
			break
		}
		small, large = min(small, work(read, text(size))), min(large, work(read, text(8*size)))
	}
	return float64(large) / float64(max(small, time.Microsecond))
}

// Memory is how much more memory eight times the text is; 0 for a reader that takes little.
func Memory(read func([]byte), text func(size int) []byte) float64 {
	long := text(8 * base)
	large := allocated(read, long)
	if large < leastMemory*uint64(len(long)) {
		return 0
	}
	return float64(large) / float64(max(allocated(read, text(base)), 1))
}

func allocated(read func([]byte), text []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read(text)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// work is the processor time that a reader takes.
func work(read func([]byte), text []byte) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	read(text)
	return threadTime() - begin
}

func threadTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err) // every Linux has it
	}
	return time.Duration(now.Nano())
}
