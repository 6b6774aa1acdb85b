package xid

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

const (
	maxLine = 1 << 20
	maxText = 300
)

var (
	stamped = regexp.MustCompile(`^(?:<\d+>)?\[\s*([^\]]{1,40})\]|^(\w{3} [ \d]\d \d\d:\d\d:\d\d) |^(\d{4}-\d\d-\d\d[T ][\d:.,]+\S*) `)
	mention = regexp.MustCompile(`\bS?Xid \(`)
	gpuLine = regexp.MustCompile(`NVRM: Xid \((?:PCI:)?([0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+)(?:\.[0-9A-Fa-f])?(?: [^)]*)?\): (\d+)(?:,\s*(.*))?$`)
	swLine  = regexp.MustCompile(`(nvswitch\d+): SXid \((?:PCI:)?([0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+)(?:\.[0-9A-Fa-f])?\): (\d+), (Fatal|Non-fatal), (.*)$`)
	action  = regexp.MustCompile(`recovery action changed from .* to 0x[0-9A-Fa-f]+ \(([^)]*)\)`)
)

// Parse reads a kernel log. A log with no line that looks like one is an error:
// nothing to read is not the same as no errors.
func Parse(data []byte) (Log, error) {
	return guard.Parse("kernel log", func() (Log, error) { return parse(data) })
}

func parse(data []byte) (Log, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Log{}, errors.New("read kernel log: no output; dmesg may not be allowed for this user (kernel.dmesg_restrict)")
	}
	r := reader{index: map[Event]int{}}
	br := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
	known := false
	for {
		line, err := readLine(br)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Log{}, fmt.Errorf("read kernel log: line %d: %w", r.log.Lines+1, err)
		}
		r.log.Lines++
		known = known || stamped.MatchString(line) || mention.MatchString(line)
		if r.log.Lines <= 5 && strings.Contains(line, "Linux version ") {
			r.log.FromBoot = true
		}
		if err := r.line(line); err != nil {
			return Log{}, fmt.Errorf("read kernel log: line %d: %w", r.log.Lines, err)
		}
	}
	if !known {
		return Log{}, fmt.Errorf("read kernel log: none of %d lines begins with a timestamp: this is no kernel log", r.log.Lines)
	}
	return r.log, nil
}

// readLine reads one line without its end.
func readLine(br *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, more, err := br.ReadLine()
		if err != nil {
			return "", err //nolint:wrapcheck // io.EOF of a reader over memory
		}
		line = append(line, part...)
		if len(line) > maxLine {
			return "", fmt.Errorf("longer than %d bytes", maxLine)
		}
		if !more {
			return strings.ToValidUTF8(strings.TrimRight(string(line), "\r"), "?"), nil
		}
	}
}

type reader struct {
	log   Log
	index map[Event]int // where an event is in log.Events, by what tells it from others
}

func (r *reader) line(line string) error {
	if !mention.MatchString(line) {
		return nil
	}
	e, err := event(line)
	if err != nil {
		return err
	}
	at := ""
	if m := stamped.FindStringSubmatch(line); m != nil {
		at = strings.TrimSpace(m[1] + m[2] + m[3])
	}
	key := e
	key.Text = ""
	if i, ok := r.index[key]; ok {
		r.log.Events[i].Count++
		r.log.Events[i].Last = at
		return nil
	}
	r.index[key] = len(r.log.Events)
	e.Count, e.First, e.Last = 1, at, at
	r.log.Events = append(r.log.Events, e)
	return nil
}

func event(line string) (Event, error) {
	if m := gpuLine.FindStringSubmatch(line); m != nil {
		e := Event{Kind: GPU, Text: cut(m[3])}
		if a := action.FindStringSubmatch(m[3]); a != nil {
			e.Action = a[1]
		}
		return e, e.number(m[1], m[2])
	}
	if m := swLine.FindStringSubmatch(line); m != nil {
		e := Event{Kind: Switch, Device: m[1], Fatal: m[4] == "Fatal", Text: cut(m[5])}
		return e, e.number(m[2], m[3])
	}
	return Event{}, fmt.Errorf("%.200q: expected \"NVRM: Xid (PCI:0000:01:00): 79, ...\" or \"nvswitch0: SXid (PCI:...): 20034, Fatal, ...\"", line)
}

// number fills in the address and the code.
func (e *Event) number(pci, code string) error {
	n, err := strconv.Atoi(code)
	if err != nil || n > 1<<20 {
		return fmt.Errorf("%.40q is no error code", code)
	}
	e.Code = n
	if e.PCI, err = address(pci); err != nil {
		return err
	}
	return nil
}

// address writes domain:bus:device with the digits that lspci prints.
func address(s string) (string, error) {
	var parts [3]uint64
	for i, text := range strings.SplitN(s, ":", 3) {
		n, err := strconv.ParseUint(text, 16, 32)
		if err != nil {
			return "", fmt.Errorf("%.40q is no PCI address", s)
		}
		parts[i] = n
	}
	return fmt.Sprintf("%04x:%02x:%02x", parts[0], parts[1], parts[2]), nil
}

func cut(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}
