package nccl_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// TestJoinedLinesAreRead: a line of 64 KB that holds many lines takes as long as the same bytes in lines of 8 KB. To
// search what is before each of them took seconds for one line, eight times as long as for the shorter ones.
func TestJoinedLinesAreRead(t *testing.T) {
	const bytesOfALog, again = 64 << 10, "zh1:1:1 [0] NCCL INFO "
	read := func(log []byte) { _, _ = nccl.ParseLog(bytes.NewReader(log)) }
	ratio := growth.Ratio(read, func(size int) []byte {
		line := strings.Repeat(again, size/len(again)) + "\n"
		return []byte("h1:1:1 [0] NCCL INFO x\n" + strings.Repeat(line, bytesOfALog/size))
	})
	if ratio > 4 {
		t.Errorf("lines of 64 KB take %.1f times the work of lines of 8 KB", ratio)
	}
}
