package logline

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Line is one line of a log without the prefixes of launchers and runtimes.
type Line struct {
	// Time is the timestamp of the runtime; zero if absent.
	Time time.Time
	// Rank is the rank in the label of a launcher; -1 if absent.
	Rank int
	// Text is the line of the program.
	Text string
}

var (
	ansi      = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`)
	criTag    = regexp.MustCompile(`^(?:stdout|stderr) [FP] `)
	podPrefix = regexp.MustCompile(`^\[pod/[^\]\s]+\]\s?`)
	// sternTag is what stern prints before a line: pod and container. A pod's name differs from
	// a word by its end: five letters and digits of Kubernetes' alphabet for generated names, or a
	// number after the role in a training job.
	sternTag = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*-(?:[bcdfghjklmnpqrstvwxz2456789]{5}|(?:launcher|master|worker)-\d+) [a-z0-9](?:[a-z0-9-]*[a-z0-9])? `)
	// mpiTag is the prefix of mpirun --tag-output, with the job name since Open MPI 5 and the
	// date of --timestamp-output; mpiTime is the date alone.
	mpiTag    = regexp.MustCompile(`^\s*(?:` + mpiDate + `)?\[(?:[\w.-]+@)?\d+,(\d+)\]<std(?:out|err)>:\s?`)
	mpiTime   = regexp.MustCompile(`^` + mpiDate + `<std(?:out|err)>:\s?`)
	rankLabel = regexp.MustCompile(`^\[(?:rank|default)(\d+)\]:\s?`)
	srunLabel = regexp.MustCompile(`^ *(\d+): `) // srun pads it to the width of the largest
	// rayTag is what Ray prints before a line of a process, also for launchers on it. A rank there is that of the node.
	rayTag = regexp.MustCompile(`^\((?:[\w.:-]+(?:, rank=\d+)?,? )?pid=\d+(?:, ip=[\w.:]+)?\) ?`)
	// palsLabel is that of mpiexec -l on HPE Cray: the node, named by its place in the cabinets, and the rank.
	palsLabel = regexp.MustCompile(`^x\d+c\d+s\d+b\d+n\d+(?:\.[\w.-]+)? (\d+): ?`)
)

const mpiDate = `\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}`

// maxTag is the largest offset of the end of an mpirun tag.
const maxTag = 160

// Parse removes the prefixes of one line.
func Parse(s string) Line {
	l := Line{Rank: -1, Text: strings.TrimRight(s, "\r\n")}
	if strings.IndexByte(l.Text, '\x1b') >= 0 {
		l.Text = ansi.ReplaceAllString(l.Text, "")
	}
	if strings.HasPrefix(l.Text, "[pod/") {
		l.Text = podPrefix.ReplaceAllString(l.Text, "")
	} else if dash := strings.IndexByte(l.Text, '-'); dash > 0 && dash < strings.IndexByte(l.Text, ' ') {
		l.Text = l.Text[len(sternTag.FindString(l.Text)):]
	}
	l.stripTime()
	switch {
	case strings.HasPrefix(l.Text, "("):
		l.Text = l.Text[len(rayTag.FindString(l.Text)):]
	case strings.HasPrefix(l.Text, "x"):
		l.stripRank(palsLabel)
	}
	if strings.Contains(l.Text[:min(len(l.Text), maxTag)], "<std") {
		l.Text = l.Text[len(mpiTime.FindString(l.Text)):]
		l.stripRank(mpiTag)
	}
	if begins := strings.TrimLeft(l.Text, " "); begins == "" || (begins[0] != '[' && (begins[0] < '0' || begins[0] > '9')) {
		return l
	}
	for _, label := range []*regexp.Regexp{srunLabel, rankLabel, rankLabel} { // torchrun's, then PyTorch's own
		l.stripRank(label)
	}
	return l
}

// stripTime removes an RFC 3339 timestamp and the CRI stream tag after it.
func (l *Line) stripTime() {
	if len(l.Text) < 20 || l.Text[4] != '-' || l.Text[10] != 'T' {
		return
	}
	word, rest, _ := strings.Cut(l.Text, " ")
	at, err := time.Parse(time.RFC3339Nano, word)
	if err != nil {
		return
	}
	l.Time = at
	l.Text = criTag.ReplaceAllString(rest, "")
}

func (l *Line) stripRank(label *regexp.Regexp) {
	m := label.FindStringSubmatch(l.Text)
	if m == nil {
		return
	}
	rank, err := strconv.Atoi(m[1])
	if err != nil || rank > MaxRank {
		return
	}
	l.Rank = rank
	l.Text = l.Text[len(m[0]):]
}
