package infiniband

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// SMStateMaster is the state of the active subnet manager (0 not active, 1 discovering,
// 2 standby, 3 master).
const SMStateMaster = 3

// SMInfo is the response of the subnet manager to sminfo.
type SMInfo struct {
	// Answered is false if no subnet manager responded; the other fields are then zero.
	Answered bool   `json:"answered"`
	LID      int    `json:"lid"`
	GUID     string `json:"guid"`
	Activity uint64 `json:"activity"`
	Priority int    `json:"priority"`
	// State is nil in the output of old versions.
	State *int `json:"state,omitempty"`
}

var (
	smLine = regexp.MustCompile(`^sminfo: sm lid (0x[0-9a-fA-F]+|\d+) sm guid (0x[0-9a-fA-F]+), activity count (\d+) priority (\d+)(?: state (\d+) SMINFO_[A-Z_]+)?$`)
	none   = regexp.MustCompile(`^sminfo: iberror: (query failed|failed: query)$`)
	mad    = regexp.MustCompile(`mad_rpc: _do_madrpc failed`)
)

// maxOutput is the most output that is parsed; sminfo prints one line.
const maxOutput = 64 << 10

// ParseSMInfo parses the standard output of sminfo, or its standard error if the former is
// empty. No response of a subnet manager is a result, not an error.
func ParseSMInfo(out []byte) (SMInfo, error) {
	return guard.Parse("sminfo", func() (SMInfo, error) { return parseSMInfo(out) })
}

func parseSMInfo(out []byte) (SMInfo, error) {
	if len(out) > maxOutput {
		return SMInfo{}, fmt.Errorf("read sminfo: %d bytes of output: sminfo prints one line", len(out))
	}
	noResponse := false
	for raw := range strings.SplitSeq(string(out), "\n") {
		text := strings.TrimSpace(raw)
		if g := smLine.FindStringSubmatch(text); g != nil {
			return info(g)
		}
		noResponse = noResponse || none.MatchString(text) || mad.MatchString(text)
	}
	if noResponse {
		return SMInfo{}, nil
	}
	return SMInfo{}, fmt.Errorf("read sminfo: no line \"sminfo: sm lid ...\" in %.120q", out)
}

func info(g []string) (SMInfo, error) {
	i := SMInfo{Answered: true, GUID: strings.ToLower(g[2])}
	lid, err := strconv.ParseInt(g[1], 0, 32)
	if err != nil {
		return SMInfo{}, fmt.Errorf("read sminfo: invalid LID: %w", err)
	}
	i.LID = int(lid)
	if i.Activity, err = strconv.ParseUint(g[3], 10, 64); err != nil {
		return SMInfo{}, fmt.Errorf("read sminfo: invalid activity count: %w", err)
	}
	if i.Priority, err = strconv.Atoi(g[4]); err != nil {
		return SMInfo{}, fmt.Errorf("read sminfo: invalid priority: %w", err)
	}
	if g[5] != "" {
		state, err := strconv.Atoi(g[5])
		if err != nil {
			return SMInfo{}, fmt.Errorf("read sminfo: invalid state: %w", err)
		}
		i.State = &state
	}
	return i, nil
}
