package site

import (
	"maps"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestMIG(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mig  MIG
		says string // of the first problem; empty: valid
		want map[string]int
	}{
		"single": {MIG{Strategy: MIGSingle, Devices: map[string]int{"1g.10gb": 56}}, "", map[string]int{"nvidia.com/gpu": 56}},
		"mixed": {MIG{Strategy: MIGMixed, Devices: map[string]int{"1g.10gb+me": 4, "3g.40gb": 8}, WholeGPUs: 2}, "", map[string]int{
			"nvidia.com/gpu": 2, "nvidia.com/mig-1g.10gb.me": 4, "nvidia.com/mig-3g.40gb": 8,
		}},
		"no strategy":         {MIG{Devices: map[string]int{"1g.10gb": 7}}, "gpustack.mig.strategy", nil},
		"no devices":          {MIG{Strategy: MIGMixed}, "is empty", nil},
		"no profile":          {MIG{Strategy: MIGMixed, Devices: map[string]int{"mig-1g.10gb": 7}}, "invalid MIG profile", nil},
		"eight slices":        {MIG{Strategy: MIGMixed, Devices: map[string]int{"8g.80gb": 1}}, "invalid MIG profile", nil},
		"none of a profile":   {MIG{Strategy: MIGMixed, Devices: map[string]int{"1g.10gb": 0}}, "1g.10gb", nil},
		"two single profiles": {MIG{Strategy: MIGSingle, Devices: map[string]int{"1g.10gb": 7, "2g.20gb": 1}}, "one profile", nil},
		"single and whole":    {MIG{Strategy: MIGSingle, Devices: map[string]int{"1g.10gb": 7}, WholeGPUs: 1}, "no whole GPUs", nil},
		"more than GPUs":      {MIG{Strategy: MIGMixed, Devices: map[string]int{"1g.10gb": 57}}, "need 57 compute slices", nil},
		"no room for all":     {MIG{Strategy: MIGMixed, Devices: map[string]int{"7g.80gb": 8}, WholeGPUs: 1}, "7 GPUs with MIG has 49", nil},
		"negative":            {MIG{Strategy: MIGMixed, Devices: map[string]int{"7g.80gb": 8}, WholeGPUs: -1}, "must not be negative", nil},
	} {
		v := &validator{root: &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}}
		v.mig(&tt.mig, 8)
		switch {
		case tt.says == "" && (len(v.problems) > 0 || !maps.Equal(tt.mig.Resources(), tt.want)):
			t.Errorf("%s: %+v, %v", name, v.problems, tt.mig.Resources())
		case tt.says != "" && (len(v.problems) == 0 || !strings.Contains(v.problems[0].Message, tt.says)):
			t.Errorf("%s: %+v, want %q", name, v.problems, tt.says)
		}
	}
	if got := (MIG{Strategy: MIGMixed, Devices: map[string]int{"1g.10gb": 4, "3g.40gb": 8}}).Largest(); got != "nvidia.com/mig-3g.40gb" {
		t.Errorf("the largest is %s", got)
	}
}
