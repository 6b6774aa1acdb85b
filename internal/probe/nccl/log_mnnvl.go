package nccl

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

// Lines about NVLink between nodes (MNNVL), from 2.20 on: src/init.cc and src/mnnvl.cc of NVIDIA/nccl.
var (
	fabricLine  = regexp.MustCompile(`^MNNVL busId 0x[0-9a-f]+ fabric UUID ([0-9a-f]+)\.([0-9a-f]+) cliqueId 0x([0-9a-f]+) state (\d+)`)
	cliqueLine  = regexp.MustCompile(`^MNNVL 1 cliqueId [0-9a-f]+ cliqueSize (\d+) cliqueRank \d+`)
	commLine    = regexp.MustCompile(`^comm 0x[0-9a-f]+ rank \d+ nRanks \d+ nNodes \d+ localRanks \d+ localRank \d+ MNNVL ([01])`)
	settingLine = regexp.MustCompile(`^(NCCL_(?:MNNVL|CUMEM|P2P)_\w+) set by environment to (\S*?)\.?$`)
)

// Fabric is the NVLink fabric of a GPU as its driver reports it to NCCL.
type Fabric struct {
	// ClusterUUID and CliqueID are written as nvidia-smi -q does; a UUID of zeros: no domain of several nodes.
	ClusterUUID string `json:"clusterUUID"`
	CliqueID    string `json:"cliqueID"`
	// State is nvmlGpuFabricState_t; FabricCompleted: the GPU has joined the fabric.
	State int `json:"state"`
}

// FabricCompleted is NVML_GPU_FABRIC_STATE_COMPLETED.
const FabricCompleted = 3

// mnnvl parses a line about NVLink between nodes.
func (r *Rank) mnnvl(text string) {
	if m := fabricLine.FindStringSubmatch(text); m != nil {
		r.fabric(Fabric{ClusterUUID: clusterUUID(m[1], m[2]), CliqueID: decimal(m[3]), State: number(m[4])})
	}
	if m := cliqueLine.FindStringSubmatch(text); m != nil && number(m[1]) > 0 && number(m[1]) <= logline.MaxRank {
		r.clique(number(m[1]))
		r.Cliques++
	}
	if m := commLine.FindStringSubmatch(text); m != nil {
		r.MNNVL = both(r.MNNVL, m[1] == "1")
	}
}

func (r *Rank) fabric(f Fabric) {
	if !slices.Contains(r.Fabrics, f) && len(r.Fabrics) < maxList {
		r.Fabrics = append(r.Fabrics, f)
	}
}

// clique keeps the smallest size of several communicators.
func (r *Rank) clique(size int) {
	if r.CliqueSize == 0 || size > 0 && size < r.CliqueSize {
		r.CliqueSize = size
	}
}

// clusterUUID converts the two numbers that NCCL prints (%lx of the UUID's halves, little-endian) to the
// bytes in their order.
func clusterUUID(low, high string) string {
	var b [16]byte
	for i, half := range []string{low, high} {
		n, err := strconv.ParseUint(half, 16, 64)
		if err != nil {
			return ""
		}
		binary.LittleEndian.PutUint64(b[8*i:], n)
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func decimal(hex string) string {
	n, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// setting keeps variables that decide whether NCCL uses NVLink between nodes.
func (h *hostLines) setting(text string) {
	if m := settingLine.FindStringSubmatch(text); m != nil {
		h.settings = add(h.settings, m[1]+"="+m[2])
	}
}
