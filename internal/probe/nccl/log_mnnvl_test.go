package nccl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// Lines of NCCL 2.30.7 on GB200 NVL72 as quoted in a public issue of NVIDIA/nccl; 2.28 prints no nvlDomainSize.
// The UUID has version and variant of RFC 9562 (41a4, b3e7) in the order of its bytes only.
func TestParseMNNVL(t *testing.T) {
	t.Parallel()
	const (
		fabric = "n:1:1 [0] NCCL INFO MNNVL busId 0x801000 fabric UUID a44167d15423d758.7d6b24c07d32e7b3 cliqueId 0x2786 state 3 healthMask 0xaa\n"
		start  = "n:1:1 [0] NCCL INFO ncclCommInitRank comm 0x9a39870 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 801000 commId 0x7 - Init START\n"
		clique = "n:1:1 [0] NCCL INFO MNNVL 1 cliqueId 2786 cliqueSize 4 cliqueRank 0 nvlDomainSize 4\n"
		on     = "n:1:1 [0] NCCL INFO comm 0x9a39870 rank 0 nRanks 4 nNodes 1 localRanks 4 localRank 0 MNNVL 1\n"
		set    = "n:1:1 [0] NCCL INFO NCCL_CUMEM_ENABLE set by environment to 1.\nn:1:1 [0] NCCL INFO NCCL_MNNVL_ENABLE set by environment to 0.\nn:1:1 [0] NCCL INFO NCCL_IB_HCA set by environment to 1.\n"
		off    = "n:1:1 [0] NCCL INFO comm 0x440e92d0 rank 0 nRanks 4 nNodes 1 localRanks 4 localRank 0 MNNVL 0\n"
		hopper = "n:1:1 [0] NCCL INFO MNNVL busId 0x18000 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0\n"
	)
	again := strings.NewReplacer("n:1:", "n:2:").Replace
	joined := []nccl.Fabric{{ClusterUUID: "58d72354-d167-41a4-b3e7-327dc0246b7d", CliqueID: "10118", State: nccl.FabricCompleted}}
	rank := nccl.Rank{Host: "n", NRanks: 4, BusID: "801000", Fabrics: joined, MNNVL: new(true), CliqueSize: 4, Cliques: 1}
	fellBack := rank
	fellBack.MNNVL, fellBack.CliqueSize, fellBack.Cliques = new(false), 0, 0
	once := rank
	once.MNNVL = new(false)
	smaller := rank
	smaller.CliqueSize, smaller.Cliques = 2, 2
	for name, tt := range map[string]struct {
		text     string
		want     nccl.Rank
		settings []string
	}{
		"in use":                {fabric + start + clique + on, rank, nil},
		"in use, 2.28":          {fabric + start + strings.Replace(clique, " nvlDomainSize 4", "", 1) + on, rank, nil},
		"off":                   {fabric + start + set + off, fellBack, []string{"NCCL_CUMEM_ENABLE=1", "NCCL_MNNVL_ENABLE=0"}},
		"off in the second run": {fabric + start + clique + on + again(fabric+start+off), once, nil},
		"a smaller clique":      {fabric + start + clique + on + again(start+strings.Replace(clique, "Size 4", "Size 2", 1)+on), smaller, nil},
		"a clique of no ranks, and of too many": {fabric + start + strings.Replace(clique, "Size 4", "Size 0", 1) + strings.Replace(clique, "Size 4", "Size 99999999999999999999", 1) + on,
			nccl.Rank{Host: "n", NRanks: 4, BusID: "801000", Fabrics: joined, MNNVL: new(true)}, nil},
		"no domain": {hopper + start, nccl.Rank{Host: "n", NRanks: 4, BusID: "801000",
			Fabrics: []nccl.Fabric{{ClusterUUID: "00000000-0000-0000-0000-000000000000", CliqueID: "0", State: 3}}}, nil},
		"two fabrics":    {fabric + start + strings.Replace(fabric, "0x2786 state 3", "0x2786 state 2", 1), nccl.Rank{Host: "n", NRanks: 4, BusID: "801000", Fabrics: append(joined[:1:1], nccl.Fabric{ClusterUUID: joined[0].ClusterUUID, CliqueID: "10118", State: 2})}, nil},
		"no rank so far": {fabric, nccl.Rank{Rank: -1, Host: "n", Fabrics: joined}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nccl.ParseLog(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]nccl.Rank{tt.want}, got.Ranks); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.settings, got.Hosts[0].Settings); diff != "" {
				t.Error(diff)
			}
		})
	}
}
