package nccl

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

// pieceLabel is what mpirun --tag-output prints before each line and before each piece of one.
var pieceLabel = regexp.MustCompile(`\[[\w.@-]*\d+,\d+\]<std(?:out|err)>:`)

// pieces joins the pieces of lines that mpirun forwards. It reads at most 4096 bytes of a rank at once
// (ORTE_IOF_BASE_MSG_MAX), whatever the ends of lines, and prints what it read in the order of arrival: the rest of a
// line may come behind lines of other ranks. Lines without a label are passed on as they are, and the beginning of a line that never ends is
// dropped.
type pieces struct {
	in  *bufio.Reader
	out bytes.Buffer
	// begun is the beginning of a line by its label.
	begun map[string][]byte
	err   error
}

// whole reads the lines of a log with their pieces joined.
func whole(r io.Reader) io.Reader {
	return &pieces{in: bufio.NewReaderSize(r, logline.MaxLine), begun: map[string][]byte{}}
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	for p.out.Len() == 0 {
		if p.err != nil {
			return 0, p.err
		}
		p.next()
	}
	return p.out.Read(b)
}

// next reads one line.
func (p *pieces) next() {
	line, err := p.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) { // else the line continues
		p.err = err
	}
	p.split(line)
}

func (p *pieces) split(line []byte) {
	var labels [][]int
	if bytes.Contains(line, []byte("]<std")) {
		labels = pieceLabel.FindAllIndex(line, -1)
	}
	if len(labels) == 0 {
		p.out.Write(line)
		return
	}
	p.out.Write(line[:labels[0][0]])
	for i, at := range labels {
		label := string(line[at[0]:at[1]])
		if i < len(labels)-1 { // the line continues in a later piece
			p.begun[label] = append(p.begun[label], line[at[1]:labels[i+1][0]]...)
			continue
		}
		p.out.WriteString(label)
		p.out.Write(p.begun[label])
		p.out.Write(line[at[1]:])
		delete(p.begun, label)
	}
}
