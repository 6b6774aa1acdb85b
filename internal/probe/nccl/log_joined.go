package nccl

import (
	"regexp"
	"strings"
)

var (
	// within matches the beginning of a line of NCCL anywhere in a line: it has process, thread and device.
	within = regexp.MustCompile(`([^\s:|/\[\]]+):(\d+):(\d+) \[(\d+)\] (?:(\S+:\d+) (?:\(\S+\) )?)?NCCL (INFO|WARN|VERSION) ?`)
	// labels matches what launchers and runtimes print before a line: "[4]: ", "(Worker pid=7) ", "trainer-0  | ",
	// "node01: " of pdsh, a time, the stream of a container's log file, and the host and program of the journal.
	labels = regexp.MustCompile(`^\s*(?:(?:\[[^\[\]]*\]:?|\||\([^()]*\)|[\w.-]+\s+\||\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z| ?[+-]\d\d:?\d\d)?(?:\s+\||\s)|[\w.-]+:\s|std(?:out|err) [FP]\s|\w{3} [ \d]\d [\d:]{8} \S+ [\w.-]+\[\d+\]:)\s*)*$`)
	// tagEnds matches the end of a label between two lines.
	tagEnds = regexp.MustCompile(`(?:[\]|)]|>:|:\s)\s*$`)
	// tag is the label of mpirun, and the time that NCCL prints first, behind a line: they are of the next one.
	tag       = regexp.MustCompile(`(?:\[[\w.@-]*\d+,\d+\]<std(?:out|err)>:\s?)?(?:\[[0-9: .-]+\]\s)?$`)
	onlyDigit = regexp.MustCompile(`^\d+$`)
)

// maxHostName is the longest name of a host (RFC 1123).
const maxHostName = 253

// several reports whether a line holds more than one line of NCCL.
func several(text string) bool {
	return strings.Count(text, " NCCL INFO ")+strings.Count(text, " NCCL WARN ") > 1
}

// segment is a line of NCCL in a line of the log. It is cut if another one follows directly: NCCL prints a line with its
// end at once, so that something is missing.
type segment struct {
	text string
	cut  bool
}

// segments separates the lines of NCCL in a line; false if the host of one of them cannot be separated from
// what is before it.
func (p *logParser) segments(text string) (lines []segment, ok bool) {
	found := within.FindAllStringSubmatchIndex(text, -1)
	begin, header := 0, 0 // of the line before, and the end of its header
	for i, m := range found {
		host, certain := p.hostEnding(text[header:m[0]], text[m[2]:m[3]], i == 0)
		if !certain {
			return nil, false
		}
		at := m[3] - len(host)
		if i > 0 {
			lines = append(lines, segment{text: tag.ReplaceAllString(text[begin:at], ""), cut: !endsInBlanks(text[:at])})
		}
		begin, header = at, m[1]
	}
	if len(found) > 0 {
		lines = append(lines, segment{text: text[begin:]})
	}
	return lines, true
}

// endsInBlanks reports whether text ends in a tab or in two blanks: a column ends there, and what follows begins a line.
func endsInBlanks(text string) bool {
	const blanks = "\t\n\f\r "
	return strings.HasSuffix(text, "\t") || len(text) > 1 && strings.Trim(text[len(text)-2:], blanks) == ""
}

// hostEnding returns the host at the end of word: the whole word behind a label or blanks, or else the longest
// host that is known from other lines.
func (p *logParser) hostEnding(before, word string, first bool) (host string, certain bool) {
	switch {
	case p.hosts[word] != nil, first && labels.MatchString(before), !first && tagEnds.MatchString(before):
		return word, true
	case !first && endsInBlanks(before) && (word[0] < '0' || word[0] > '9'):
		return word, true
	}
	for at := max(0, len(word)-maxHostName); at < len(word); at++ {
		if known := word[at:]; p.hosts[known] != nil && !onlyDigit.MatchString(known) {
			return known, true
		}
	}
	return "", false
}

// joinedLine reads a line that may hold several lines of NCCL. A host may be named by a later line of the log:
// such a line waits for the end.
func (p *logParser) joinedLine(text string, last bool) {
	lines, ok := p.segments(text)
	switch {
	case ok:
		for _, line := range lines {
			if m := prefix.FindStringSubmatch(line.text); m != nil {
				p.one(m, line.cut)
			}
		}
	case !last && len(p.waiting) < maxList:
		p.waiting = append(p.waiting, strings.Clone(text))
	default:
		p.joined++
		if n := len(within.FindAllStringIndex(text, -1)); n > 1 {
			p.lines += n
		}
	}
}
