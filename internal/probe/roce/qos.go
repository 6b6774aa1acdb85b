package roce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Priorities is the number of priorities of a port (IEEE 802.1Q).
const Priorities = 8

// Trust states: a port takes the priority of a packet from its DSCP, or from its VLAN tag.
const (
	TrustDSCP = "dscp"
	TrustPCP  = "pcp"
)

// QoS is the data centre bridging state of a network device.
type QoS struct {
	// PFC tells by priority whether priority flow control is enabled.
	PFC   [Priorities]bool `json:"pfc"`
	Trust string           `json:"trust"`
	// DSCP is the priority of each DSCP with a mapping; nil if Trust is not TrustDSCP.
	DSCP map[int]int `json:"dscp,omitempty"`
}

// ParseQoS parses sections of "=DEVICE=" lines, each with the output of mlnx_qos -i, or of dcb -j pfc
// show and dcb -j app show, of its network device.
func ParseQoS(out []byte) (map[string]QoS, error) {
	return guard.Parse("QoS of RDMA devices", func() (map[string]QoS, error) { return parseQoS(out) })
}

func parseQoS(out []byte) (map[string]QoS, error) {
	all := map[string]QoS{}
	err := eachSection(out, func(device, body string) (err error) {
		if strings.HasPrefix(strings.TrimSpace(body), "{") || strings.HasPrefix(strings.TrimSpace(body), "[") {
			all[device], err = parseDCB(body)
			return err
		}
		all[device], err = parseMlnxQoS(body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read QoS of RDMA devices: %w", err)
	}
	return all, nil
}

var mapping = regexp.MustCompile(`^prio:([0-7]) dscp:((?:\d{1,2},)+)$`)

// parseMlnxQoS reads mlnx_qos -i. The table of PFC names its priorities in its first row.
func parseMlnxQoS(text string) (QoS, error) {
	var q QoS
	var columns []string
	enabled := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Priority trust state: "):
			q.Trust = strings.TrimPrefix(line, "Priority trust state: ")
		case mapping.MatchString(line):
			if err := q.mapped(line); err != nil {
				return QoS{}, err
			}
		case len(fields) == 1+Priorities && fields[0] == "priority":
			columns = fields[1:]
		case len(fields) > 0 && fields[0] == "enabled":
			if columns == nil || len(fields) != 1+Priorities {
				return QoS{}, fmt.Errorf("%.80q: expected the state of %d priorities below their numbers", line, Priorities)
			}
			for i, state := range fields[1:] {
				priority, err := strconv.Atoi(columns[i])
				if err != nil || priority < 0 || priority >= Priorities || state != "0" && state != "1" {
					return QoS{}, fmt.Errorf("%.80q: expected 0 or 1 for each of the priorities %v", line, columns)
				}
				q.PFC[priority] = state == "1"
			}
			enabled = true
		}
	}
	switch {
	case !enabled:
		return QoS{}, errors.New("mlnx_qos: no table of PFC")
	case q.Trust == "":
		return QoS{}, errors.New("mlnx_qos: no priority trust state")
	case q.Trust != TrustDSCP:
		q.DSCP = nil
	}
	return q, nil
}

// mapped reads "prio:3 dscp:31,30,29,".
func (q *QoS) mapped(line string) error {
	g := mapping.FindStringSubmatch(line)
	priority := int(g[1][0] - '0')
	for text := range strings.SplitSeq(strings.TrimSuffix(g[2], ","), ",") {
		dscp, err := strconv.Atoi(text)
		if err != nil || dscp > 63 {
			return fmt.Errorf("invalid DSCP %q: must be 0 to 63", text)
		}
		if was, twice := q.DSCP[dscp]; twice && was != priority {
			return fmt.Errorf("DSCP %d has two priorities", dscp)
		}
		if q.DSCP == nil {
			q.DSCP = map[int]int{}
		}
		q.DSCP[dscp] = priority
	}
	return nil
}

// dcbDocument is one document of dcb -j: of pfc show, or of app show.
type dcbDocument struct {
	PrioPFC  []bool   `json:"prio_pfc"`
	DSCPPrio [][2]int `json:"dscp_prio"`
}

// parseDCB reads the documents of dcb -j pfc show and dcb -j app show. mlx5 trusts the DSCP while its
// application table has an entry of one.
func parseDCB(text string) (QoS, error) {
	var documents []dcbDocument
	dec := json.NewDecoder(strings.NewReader(text))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return QoS{}, fmt.Errorf("dcb -j: %w", err)
		}
		if bytes.HasPrefix(raw, []byte("[")) {
			var list []dcbDocument
			if err := guard.JSON(raw, &list); err != nil {
				return QoS{}, fmt.Errorf("dcb -j: %w", err)
			}
			documents = append(documents, list...)
			continue
		}
		var d dcbDocument
		if err := guard.JSON(raw, &d); err != nil {
			return QoS{}, fmt.Errorf("dcb -j: %w", err)
		}
		documents = append(documents, d)
	}
	if len(documents) != 2 || len(documents[0].PrioPFC) != Priorities {
		return QoS{}, fmt.Errorf("dcb -j: expected the document of pfc show with %d priorities, and that of app show", Priorities)
	}
	q := QoS{Trust: TrustPCP, PFC: [Priorities]bool(documents[0].PrioPFC)}
	for _, pair := range documents[1].DSCPPrio {
		dscp, priority := pair[0], pair[1]
		if dscp < 0 || dscp > 63 || priority < 0 || priority >= Priorities {
			return QoS{}, fmt.Errorf("dcb -j app show: invalid pair %v of a DSCP and its priority", pair)
		}
		if q.DSCP == nil {
			q.Trust, q.DSCP = TrustDSCP, map[int]int{}
		}
		if was, twice := q.DSCP[dscp]; twice && was != priority {
			return QoS{}, fmt.Errorf("dcb -j app show: DSCP %d has two priorities", dscp)
		}
		q.DSCP[dscp] = priority
	}
	return q, nil
}

// Enabled are the priorities with PFC.
func (q QoS) Enabled() []int {
	var out []int
	for priority, on := range q.PFC {
		if on {
			out = append(out, priority)
		}
	}
	return slices.Clip(out)
}
