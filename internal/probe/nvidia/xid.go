package nvidia

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// maxLine is the longest line of a kernel log, in bytes.
const maxLine = 1 << 20

var (
	// stamped is the time of a line. journalctl names months in the language of the system: "6月 28", "févr. 05".
	stamped = regexp.MustCompile(`^(?:<\d+>)?\[\s*([^\]]{1,40})\]|^(\S{1,12} [ \d]\d \d\d:\d\d:\d\d) |^(\d{4}-\d\d-\d\d[T ][\d:.,]+\S*) `)
	mention = regexp.MustCompile(`\bS?Xid \(`)
	gpuLine = regexp.MustCompile(`NVRM: Xid \((?:PCI:)?([0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+)(?:\.[0-9A-Fa-f])?(?: [^)]*)?\): (\d+)(?:,\s*(.*))?$`)
	swLine  = regexp.MustCompile(`(nvswitch\d+): SXid \((?:PCI:)?([0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+)(?:\.[0-9A-Fa-f])?\): (\d+), (.*)$`)
	// levels are what dmesg -x and remote consoles print before the time.
	levels = regexp.MustCompile(`^(?:\S+: )?\w+\s*:\s*\w+\s*: `)
	// busFall is the message of the driver for a GPU that does not answer on its bus; with some drivers
	// it is printed without an Xid, on several lines.
	busFall = regexp.MustCompile(`NVRM: (.*fallen off the bus.*)$`)
	busAddr = regexp.MustCompile(`NVRM: .*\b([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})\b`)
	action  = regexp.MustCompile(`recovery action changed from .* to 0x[0-9A-Fa-f]+ \(([^)]*)\)`)
)

// ParseXids parses a kernel log. Input without any kernel log line is an error: an empty log
// does not prove that no errors occurred.
func ParseXids(data []byte) (XidLog, error) {
	return guard.Parse("kernel log", func() (XidLog, error) { return parseXid(data) })
}

func parseXid(data []byte) (XidLog, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return XidLog{}, errors.New("read kernel log: no output; dmesg may not be allowed for this user (kernel.dmesg_restrict)")
	}
	r := xidReader{events: newTally(), severe: newTally(), unclear: newTally(), offBus: newTally(), host: newTally()}
	br := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
	known := false
	for {
		line, err := readLine(br)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return XidLog{}, fmt.Errorf("read kernel log: line %d: %w", r.log.Lines+1, err)
		}
		r.log.Lines++
		known = known || stamped.MatchString(line) || mention.MatchString(line)
		if r.log.Lines <= 5 && strings.Contains(line, "Linux version ") {
			r.log.FromBoot = true
		}
		if at := stamp(line); at != "" {
			r.log.First, r.log.Last = cmp.Or(r.log.First, at), at
		}
		if err := r.line(line); err != nil {
			return XidLog{}, fmt.Errorf("read kernel log: line %d: %w", r.log.Lines, err)
		}
	}
	if !known {
		return XidLog{}, fmt.Errorf("read kernel log: none of %d lines starts with a timestamp: not a kernel log", r.log.Lines)
	}
	r.log.Events, r.log.Hardware = r.all(), r.host.list
	return r.log, nil
}

// readLine reads one line without its terminator.
func readLine(br *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, more, err := br.ReadLine()
		if err != nil {
			return "", err
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

type xidReader struct {
	log XidLog
	// events are classified. The driver prints more lines for an error of a switch: severe are
	// those with a severity, unclear those without.
	events, severe, unclear tally
	// offBus are GPUs off the bus by messages without an Xid; bus is the last address, of line busLine.
	offBus  tally
	bus     string
	busLine int
	// host are errors of the host's hardware; severity is that of the error that firmware reports.
	host     tally
	severity string
}

func (r *xidReader) line(line string) error {
	if !mention.MatchString(line) {
		r.hardware(line)
		return r.withoutXid(line)
	}
	if m := gpuLine.FindStringSubmatch(line); m != nil {
		e := XidEvent{Kind: KindXid, Text: clip(m[3], maxText)}
		if a := action.FindStringSubmatch(m[3]); a != nil {
			e.Action = a[1]
		}
		if err := e.number(m[1], m[2]); err != nil {
			return err
		}
		e.classify(m[3])
		r.events.add(e, stamp(line))
		return nil
	}
	if m := swLine.FindStringSubmatch(line); m != nil {
		e := XidEvent{Kind: KindSXid, Device: m[1]}
		if err := e.number(m[2], m[3]); err != nil {
			return err
		}
		r.sxid(e, m[4], stamp(line))
		return nil
	}
	return fmt.Errorf("%.200q: expected \"NVRM: Xid (PCI:0000:01:00): 79, ...\" or \"nvswitch0: SXid (PCI:...): 20034, Fatal, ...\"", line)
}

// NVLink 5 has Xid 144 to 150, whose lines begin with the unit and the class, "NETIR_LINK_DOWN Fatal XC0",
// behind the process if the driver names one: "pid=4, name=<unknown>, RLW_SRC_TRACK Fatal XC0".
const firstNVLink5, lastNVLink5 = 144, 150

var (
	nvlink5    = regexp.MustCompile(`^(?:pid=\S+, name=.*?, )?\S+\s+(?:Link )?(Fatal|Non-?fatal)\b`)
	initFailed = regexp.MustCompile(`NVRM: GPU ([0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f]+)(?:\.[0-9A-Fa-f])?: (RmInitAdapter failed.*)$`)
)

// classify sets the class of an error of NVLink 5 by the text of its line.
func (e *XidEvent) classify(text string) {
	if e.Code < firstNVLink5 || e.Code > lastNVLink5 {
		return
	}
	m := nvlink5.FindStringSubmatch(text)
	e.Unclassified = m == nil
	e.Fatal = m != nil && m[1] == "Fatal"
}

// maxBusLines is the most lines between the address of a GPU and the end of its message: lines of others
// can be in between.
const maxBusLines = 16

// withoutXid adds a GPU that the driver cannot initialise, and one that has fallen off the bus without
// an Xid. The address of the latter may be on a line before.
func (r *xidReader) withoutXid(line string) error {
	if m := initFailed.FindStringSubmatch(line); m != nil {
		e := XidEvent{Kind: KindDriver, Text: clip(m[2], maxText)}
		var err error
		if e.PCI, err = address(m[1]); err == nil {
			r.events.add(e, stamp(line))
		}
		return err
	}
	if m := busAddr.FindStringSubmatch(line); m != nil {
		r.bus, r.busLine = m[1], r.log.Lines
	}
	m := busFall.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	if r.bus == "" || r.log.Lines-r.busLine > maxBusLines {
		return fmt.Errorf("%.200q: a GPU has fallen off the bus, without its address", line)
	}
	e := XidEvent{Kind: KindXid, Text: clip(m[1], maxText)}
	if err := e.number(r.bus, offBusCode); err != nil {
		return err
	}
	r.offBus.add(e, stamp(line))
	return nil
}

func stamp(line string) string {
	if m := stamped.FindStringSubmatch(line[len(levels.FindString(line)):]); m != nil {
		return strings.TrimSpace(m[1] + m[2] + m[3])
	}
	return ""
}

// number sets the address and the code.
func (e *XidEvent) number(pci, code string) error {
	n, err := strconv.Atoi(code)
	if err != nil || n > 1<<20 {
		return fmt.Errorf("invalid error code %.40q", code)
	}
	e.Code = n
	if e.PCI, err = address(pci); err != nil {
		return err
	}
	return nil
}

// address formats domain:bus:device like lspci.
func address(s string) (string, error) {
	var parts [3]uint64
	for i, text := range strings.SplitN(s, ":", 3) {
		n, err := strconv.ParseUint(text, 16, 32)
		if err != nil {
			return "", fmt.Errorf("invalid PCI address %.40q", s)
		}
		parts[i] = n
	}
	return fmt.Sprintf("%04x:%02x:%02x", parts[0], parts[1], parts[2]), nil
}
