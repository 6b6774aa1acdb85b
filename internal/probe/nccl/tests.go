package nccl

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Bounds of one nccl-tests log.
const (
	maxRuns     = 256
	maxRows     = 4096
	maxDevices  = 1 << 17
	maxProblems = 32
)

// ErrNoRun is returned for a log without output of nccl-tests.
var ErrNoRun = errors.New("no nccl-tests output in the log")

// ParseTests parses all runs of a log.
func ParseTests(r io.Reader) ([]Run, error) {
	return guard.Parse("nccl-tests log", func() ([]Run, error) { return parseTests(whole(r)) })
}

func parseTests(r io.Reader) ([]Run, error) {
	p := &testsParser{}
	if err := logline.Scan(r, p.line); err != nil {
		return p.runs, fmt.Errorf("read nccl-tests log: %w", err)
	}
	if len(p.runs) == 0 && p.bare {
		return nil, fmt.Errorf("%w: the # at the start of the lines is missing: keep the log as printed", ErrNoRun)
	}
	if len(p.runs) == 0 && p.json {
		return nil, fmt.Errorf("%w: it is JSON: keep the table that nccl-tests prints", ErrNoRun)
	}
	if len(p.runs) == 0 {
		return nil, ErrNoRun
	}
	return p.runs, nil
}

type testsParser struct {
	runs    []Run
	columns []string
	// table: the header of the table was read. inPlace: its title has only the in-place half.
	table, inPlace bool
	// bare: a line of nccl-tests without its "#" was read.
	bare bool
	// json: the first line begins a JSON object, as the file of -J does. begun: a line was read.
	json, begun bool
}

// current returns the open run. It opens a new run if opens is set or no run is open.
func (p *testsParser) current(opens bool) *Run {
	if opens || len(p.runs) == 0 {
		p.runs = append(p.runs, Run{})
		p.table, p.columns = false, nil
	}
	return &p.runs[len(p.runs)-1]
}

func (p *testsParser) line(l logline.Line) error {
	text := strings.TrimSpace(rankLabel.ReplaceAllString(l.Text, ""))
	if text == "" {
		return nil
	}
	if !p.begun {
		p.begun, p.json = true, text[0] == '{'
	}
	if len(p.runs) >= maxRuns {
		return fmt.Errorf("more than %d runs in one log", maxRuns)
	}
	if strings.Contains(text, "NCCL INFO") || strings.Contains(text, "NCCL WARN") {
		if rest, ok := strings.CutPrefix(text, "#"); ok {
			return p.joinedComment(strings.TrimSpace(rest))
		}
		p.joinedRow(text)
		return nil
	}
	if rest, ok := strings.CutPrefix(text, "#"); ok {
		return p.comment(strings.TrimSpace(rest))
	}
	switch {
	case failure.MatchString(text):
		p.current(false).failed(text)
	case p.table && text[0] >= '0' && text[0] <= '9':
		p.row(text)
	case strings.HasPrefix(text, "nThread"), strings.HasPrefix(text, "size") && strings.Contains(text, "busbw"):
		p.bare = true
	}
	return nil
}

var (
	// failure matches the lines of a process that gives up: of a call, of the timeout of -T, and of the functions
	// that it passes on.
	failure = regexp.MustCompile(`Test (?:NCCL |CUDA )?failure\b|: Test timeout \(`)
	// rankLabel is the label of Intel MPI's -l.
	rankLabel = regexp.MustCompile(`^\[\d+\] ?`)
)

// failed keeps a line that reports why the run failed.
func (r *Run) failed(text string) {
	if len(r.Errors) < maxProblems {
		r.Errors = append(r.Errors, strings.Clone(text))
	}
}

// problem keeps why a line of the table cannot be read.
func (r *Run) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// rowBegins matches the start of a row: size, count, type.
var rowBegins = regexp.MustCompile(`^\d+\s+\d+\s+[a-z]\w*\s`)

// joinedRow records a problem for a row that is joined with a line of NCCL: the last figure
// of the row and the host of the line cannot be separated.
func (p *testsParser) joinedRow(text string) {
	if !p.table || !rowBegins.MatchString(text) {
		return
	}
	p.current(false).problem("row is joined with a line of NCCL: %.160q", text)
}

func (p *testsParser) row(text string) {
	run := p.current(false)
	row, err := parseRow(p.columns, text, p.inPlace)
	switch {
	case err != nil:
		run.problem("%v: %.160q", err, text)
	case len(run.Rows) < maxRows:
		run.Rows = append(run.Rows, row)
	}
}
