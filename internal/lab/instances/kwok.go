package instances

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// File format of Karpenter's KWOK provider; only keys of offerings are capitalised.
type (
	kwokType struct {
		Name             string            `json:"name"`
		Offerings        []kwokOffering    `json:"offerings"`
		Architecture     string            `json:"architecture"`
		OperatingSystems []string          `json:"operatingSystems"`
		Resources        map[string]string `json:"resources"`
	}
	kwokOffering struct {
		Price        float64           `json:"Price"`
		Available    bool              `json:"Available"`
		Requirements []kwokRequirement `json:"Requirements"`
	}
	kwokRequirement struct {
		Key      string   `json:"key"`
		Operator string   `json:"operator"`
		Values   []string `json:"values"`
	}
)

// KWOK returns the content of the file for INSTANCE_TYPES_FILE_PATH.
func KWOK(types []Type) ([]byte, error) {
	out := make([]kwokType, 0, len(types))
	for _, t := range types {
		k := kwokType{
			Name: t.Name, Architecture: t.Architecture.Value, OperatingSystems: []string{"linux"},
			Resources: map[string]string{
				"cpu":            whole(t.CPU),
				"memory":         whole(t.Memory) + "Gi",
				"nvidia.com/gpu": whole(t.GPUs),
			},
		}
		for _, zone := range t.Zones.Value {
			k.Offerings = append(k.Offerings, offering(zone, t.OnDemand.Value))
		}
		out = append(out, k)
	}
	raw, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode instance types: %w", err)
	}
	return append(raw, '\n'), nil
}

func offering(zone string, price float64) kwokOffering {
	in := func(key, value string) kwokRequirement {
		return kwokRequirement{Key: key, Operator: "In", Values: []string{value}}
	}
	return kwokOffering{Price: price, Available: true, Requirements: []kwokRequirement{
		in("karpenter.sh/capacity-type", "on-demand"), in("topology.kubernetes.io/zone", zone),
	}}
}

func whole(n Number) string { return strconv.Itoa(int(n.Value)) }
