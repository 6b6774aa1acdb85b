package site_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// withHCAs is the example with other HCAs; its profile has 8 a node.
func withHCAs(t *testing.T, hcas string) []byte {
	t.Helper()
	const list = "hcas: [mlx5_0, mlx5_1, mlx5_2, mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7]"
	text := string(site.Example())
	if strings.Count(text, list) != 1 {
		t.Fatalf("the example has no %s", list)
	}
	return []byte(strings.Replace(text, list, "hcas: "+hcas, 1))
}

func TestHCAPatterns(t *testing.T) {
	t.Parallel()
	for hcas, want := range map[string]string{
		"[mlx5_7, mlx5_0, mlx5_1, mlx5_2, mlx5_3, mlx5_4, mlx5_5, mlx5_6]": "mlx5_7 mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6",
		"['mlx5_[0-7]']": "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7",
		"['mlx5_*']":     "mlx5_0 mlx5_1 mlx5_2 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7",
		// DGX H100: storage and management are mlx5_1, 2, 7 and 8.
		"['mlx5_*', '^mlx5_[1278]']":                                    "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
		"['=mlx5_0:1', 'mlx5_[3-6]', '^=mlx5_2', mlx5_9, 'mlx5_1[01]']": "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
		"['mlx5_1*']":     "mlx5_10 mlx5_11 mlx5_12 mlx5_13 mlx5_14 mlx5_15 mlx5_16 mlx5_17",
		"['ib[02-8]']":    "ib0 ib2 ib3 ib4 ib5 ib6 ib7 ib8",
		"['p[12]_[0-3]']": "p1_0 p1_1 p1_2 p1_3 p2_0 p2_1 p2_2 p2_3",
	} {
		s, err := site.Parse("s.yaml", withHCAs(t, hcas))
		if err != nil {
			t.Errorf("%s: %v", hcas, err)
			continue
		}
		if !slices.Equal(s.Fabric.HCAs, strings.Fields(want)) {
			t.Errorf("%s: %v, want %s", hcas, s.Fabric.HCAs, want)
		}
	}
}

func TestHCAPatternsRefused(t *testing.T) {
	t.Parallel()
	for hcas, want := range map[string]string{
		"['mlx5_[0-6]']":            "lists 7 devices, profile h100-sxm-ndr400 has 8",
		"['mlx5_*', '^mlx5_*']":     "lists 0 devices",
		"['mlx5_[0-7]', '^mlx5_3']": "lists 7 devices",
		"['mlx5_[0-7]', mlx5_3]":    "lists 9 devices",
		"['mlx5_[0-7]:2']":          "invalid port",
		"['mlx5_[0-7']":             "invalid HCA",
		"['mlx5_?']":                "? and \\ are not supported",
		"['mlx5_[^8]']":             "a set must name its characters",
		"['*_*']":                   "invalid HCA",
		"['^']":                     "invalid HCA",
		"[mlx5]":                    "lists 1 devices",
	} {
		if _, err := site.Parse("s.yaml", withHCAs(t, hcas)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", hcas, err, want)
		}
	}
}
