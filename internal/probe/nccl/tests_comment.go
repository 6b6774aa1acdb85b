package nccl

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	versionLine = regexp.MustCompile(`^nccl-tests version (\S+)(?:.*nccl-library=(\d+))?`)
	paramLine   = regexp.MustCompile(`^nThread\s+\d+\s+nGpus\s+\d+\s+minBytes\s+(\d+)\s+maxBytes\s+(\d+)\s+step:\s+(\d+)\((factor|bytes)\)`)
	validation  = regexp.MustCompile(`validation:\s+(\d+)`)
	deviceLine  = regexp.MustCompile(`^Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s+(\d+)\s+on\s+(\S+)\s+device\s+(\d+)\s+\[([^\]]+)\]\s*(.*)$`)
	outOfBounds = regexp.MustCompile(`^Out of bounds values\s*:\s*(\d+)\s+(OK|FAILED)`)
	avgBusBW    = regexp.MustCompile(`^Avg bus bandwidth\s*:\s*(\S+)(?:\s+(OK|FAILED)\b)?`)
	reducing    = regexp.MustCompile(`^Reducing maxBytes to (\d+) due to memory limitation`)
	program     = regexp.MustCompile(`^(Collective test (?:starting|concluded)\s*:\s*\w+?_perf(?:_mpi)?)`)
	unitOf      = regexp.MustCompile(`\(([^()]+)\)`)
)

// units are those of the columns: other ones would be read as if they were these.
var units = []string{"B", "elements", "us", "GB/s", "%"}

// oldColumns begin the head of the table before 2019, whose times are in milliseconds.
const oldColumns = "bytes "

// comment parses a line that starts with "#"; text is the rest of the line.
func (p *testsParser) comment(text string) error {
	switch {
	case strings.HasPrefix(text, "nccl-tests version"):
		p.version(text)
	case strings.HasPrefix(text, "Collective test starting:"):
		run := p.opening(func(r *Run) bool { return r.Starting || r.MinBytes > 0 })
		run.Starting = true
		run.Test = strings.TrimSpace(strings.TrimPrefix(text, "Collective test starting:"))
	case strings.HasPrefix(text, "nThread"):
		p.params(text)
	case strings.HasPrefix(text, "Rank"):
		return p.device(text)
	case strings.HasPrefix(text, "out-of-place"), strings.HasPrefix(text, "in-place"):
		p.current(false)
		p.inPlace = strings.HasPrefix(text, "in-place")
	case strings.HasPrefix(text, "size") && strings.Contains(text, "busbw"):
		p.current(false)
		p.columns, p.table = strings.Fields(text), true
	case strings.HasPrefix(text, oldColumns) && strings.Contains(text, "busbw"):
		p.current(false).problem("the columns are those of nccl-tests before 2019: use a newer version: %.160q", text)
	case strings.HasPrefix(text, "(") && p.table:
		p.units(text)
	case len(p.runs) > 0:
		p.footer(text)
	}
	return nil
}

// units requires the units of the columns.
func (p *testsParser) units(text string) {
	for _, m := range unitOf.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(units, m[1]) {
			p.current(false).problem("invalid unit (%.40s): must be one of %s", m[1], strings.Join(units, ", "))
			return
		}
	}
}

// joinedComment parses the part of a line before the host of a line of NCCL that follows without a limit.
func (p *testsParser) joinedComment(text string) error {
	at := within.FindStringIndex(text)
	if at == nil {
		return nil
	}
	switch {
	case strings.HasPrefix(text, "Rank"):
		head := strings.TrimSpace(text[:at[0]])
		if !deviceLine.MatchString(head) {
			p.current(false).problem("a device is joined with a line of NCCL: %.160q", text)
			return nil
		}
		if err := p.device(head); err != nil {
			return err
		}
		last := p.current(false)
		last.Devices[len(last.Devices)-1].Name = "" // its end is the host's
		return nil
	case strings.HasPrefix(text, "Collective test"):
		if m := program.FindString(text); m != "" {
			return p.comment(m)
		}
		return nil
	case strings.HasPrefix(text, "size") && strings.Contains(text, "busbw"):
		p.current(false).problem("the table's head is joined with a line of NCCL: %.160q", text)
		return nil
	case strings.HasPrefix(text, "nThread"), strings.HasPrefix(text, "Reducing"), strings.HasPrefix(text, "Out of bounds"), strings.HasPrefix(text, "Avg bus"):
		return p.comment(text)
	}
	return nil
}

// opening returns the run of an opening line: a new run if the open one already has such a
// line.
func (p *testsParser) opening(had func(*Run) bool) *Run {
	if len(p.runs) == 0 {
		return p.current(true)
	}
	last := p.current(false)
	return p.current(had(last) || p.table)
}

func (p *testsParser) version(text string) {
	run := p.opening(func(*Run) bool { return true })
	m := versionLine.FindStringSubmatch(text)
	if m == nil {
		return
	}
	run.Version = m[1]
	if code, err := strconv.Atoi(m[2]); err == nil {
		run.NCCLVersion = code
	}
}

func (p *testsParser) params(text string) {
	run := p.opening(func(r *Run) bool { return r.MinBytes > 0 })
	m := paramLine.FindStringSubmatch(text)
	if m == nil {
		run.problem("invalid parameters: %.160q", text)
		return
	}
	run.MinBytes, run.MaxBytes = toInt(m[1]), toInt(m[2])
	if m[4] == "factor" {
		run.StepFactor = toInt(m[3])
	} else {
		run.StepBytes = toInt(m[3])
	}
	if v := validation.FindStringSubmatch(text); v != nil {
		n := int(toInt(v[1]))
		run.Validation = &n
	}
}

func (p *testsParser) device(text string) error {
	m := deviceLine.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	run := p.current(false)
	if len(run.Devices) >= maxDevices {
		return fmt.Errorf("more than %d devices in one run", maxDevices)
	}
	run.Devices = append(run.Devices, Device{
		Rank: int(toInt(m[1])), Group: int(toInt(m[2])), PID: int(toInt(m[3])), Host: m[4],
		Device: int(toInt(m[5])), BusID: m[6], Name: strings.TrimSpace(m[7]),
	})
	return nil
}

func (p *testsParser) footer(text string) {
	run := p.current(false)
	switch {
	case strings.HasPrefix(text, "Out of bounds values"):
		run.bounds(outOfBounds.FindStringSubmatch(text), text)
	case strings.HasPrefix(text, "Avg bus bandwidth"):
		if m := avgBusBW.FindStringSubmatch(text); m != nil {
			if v, err := toFloat(m[1]); err == nil {
				run.AvgBusBW = &v
			}
			if m[2] == "FAILED" {
				run.failed(text)
			}
		}
	case strings.HasPrefix(text, "Collective test concluded"):
		run.conclude(strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "Collective test concluded"), ":")))
	case strings.HasPrefix(text, "error:"):
		run.failed(text)
	case strings.HasPrefix(text, "Reducing maxBytes"):
		if m := reducing.FindStringSubmatch(text); m != nil {
			run.ReducedTo = toInt(m[1])
		}
	}
}

// bounds reads the footer's count of failed checks. Of two footers, which mixed outputs of several processes have,
// the worse counts.
func (r *Run) bounds(m []string, text string) {
	if m == nil {
		return
	}
	n := toInt(m[1])
	if r.OutOfBounds != nil {
		r.problem("two footers in one run: the outputs of several processes are mixed")
		n = max(n, *r.OutOfBounds)
	}
	r.OutOfBounds = &n
	if n == 0 && m[2] == "FAILED" {
		r.failed(text)
	}
}

// conclude reads the last line: the name there, if any, is that of the first line.
func (r *Run) conclude(test string) {
	r.Concluded = true
	switch {
	case test == "":
	case r.Test == "":
		r.Test = strings.Clone(test)
	case test != r.Test:
		r.problem("the run of %.40q ends as one of %.40q", r.Test, test)
	}
}

// toInt parses digits; on overflow it returns the largest int64.
func toInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && n < 0 {
		return 0
	}
	return n
}

// toFloat parses a finite, non-negative number.
func toFloat(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("invalid figure %.40q: must be a finite, non-negative number", s)
	}
	return v, nil
}
