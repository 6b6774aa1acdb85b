package infiniband

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// SMStateMaster is the state of the one subnet manager that is at work
// (0 not active, 1 discovering, 2 standby, 3 master).
const SMStateMaster = 3

// SMInfo is one answer of a subnet manager.
type SMInfo struct {
	// Answered is false when no subnet manager did; the rest is then zero.
	Answered bool   `json:"answered"`
	LID      int    `json:"lid"`
	GUID     string `json:"guid"`
	Activity uint64 `json:"activity"`
	Priority int    `json:"priority"`
	// State is absent in the output of old versions: then nil.
	State *int `json:"state,omitempty"`
}

var (
	smLine = regexp.MustCompile(`^sminfo: sm lid (0x[0-9a-fA-F]+|\d+) sm guid (0x[0-9a-fA-F]+), activity count (\d+) priority (\d+)(?: state (\d+) SMINFO_[A-Z_]+)?$`)
	none   = regexp.MustCompile(`^sminfo: iberror: (query failed|failed: query)$`)
	mad    = regexp.MustCompile(`mad_rpc: _do_madrpc failed`)
)

// maxOutput bounds what is read: the real thing is one line.
const maxOutput = 64 << 10

// ParseSMInfo reads the output (standard output, and standard error where there is
// none). That no subnet manager answers is an answer, not an error.
func ParseSMInfo(out []byte) (SMInfo, error) {
	return guard.Parse("sminfo", func() (SMInfo, error) { return parseSMInfo(out) })
}

func parseSMInfo(out []byte) (SMInfo, error) {
	if len(out) > maxOutput {
		return SMInfo{}, fmt.Errorf("%d bytes are no output of sminfo, which is one line", len(out))
	}
	silent := false
	for raw := range strings.SplitSeq(string(out), "\n") {
		text := strings.TrimSpace(raw)
		if g := smLine.FindStringSubmatch(text); g != nil {
			return info(g)
		}
		silent = silent || none.MatchString(text) || mad.MatchString(text)
	}
	if silent {
		return SMInfo{}, nil
	}
	return SMInfo{}, fmt.Errorf("no line \"sminfo: sm lid ...\" in %q: is this the output of sminfo?", head(out))
}

func info(g []string) (SMInfo, error) {
	i := SMInfo{Answered: true, GUID: strings.ToLower(g[2])}
	lid, err := strconv.ParseInt(g[1], 0, 32)
	if err != nil {
		return SMInfo{}, fmt.Errorf("read the LID of sminfo: %w", err)
	}
	i.LID = int(lid)
	if i.Activity, err = strconv.ParseUint(g[3], 10, 64); err != nil {
		return SMInfo{}, fmt.Errorf("read the activity count of sminfo: %w", err)
	}
	if i.Priority, err = strconv.Atoi(g[4]); err != nil {
		return SMInfo{}, fmt.Errorf("read the priority of sminfo: %w", err)
	}
	if g[5] != "" {
		state, err := strconv.Atoi(g[5])
		if err != nil {
			return SMInfo{}, fmt.Errorf("read the state of sminfo: %w", err)
		}
		i.State = &state
	}
	return i, nil
}

func head(b []byte) string {
	const most = 120
	if len(b) > most {
		b = b[:most]
	}
	return string(b)
}
