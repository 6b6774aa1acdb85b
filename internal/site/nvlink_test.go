package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// nvlink.imex is refused where no node has NVLink to others, and its values are known.
func TestNVLink(t *testing.T) {
	t.Parallel()
	gb200 := strings.NewReplacer("profile: h100-sxm-ndr400", "profile: gb200-nvl72-ndr400",
		"hcas: [mlx5_0, mlx5_1, mlx5_2, mlx5_3, mlx5_4, mlx5_5, mlx5_6, mlx5_7]", "hcas: [mlx5_0, mlx5_1, mlx5_2, mlx5_3]").Replace(string(site.Example()))
	for name, tt := range map[string]struct{ file, keys, says string }{
		"host":                   {gb200, "{imex: host}", ""},
		"dra":                    {gb200, "{imex: dra}", ""},
		"none":                   {gb200, "{imex: none}", ""},
		"nothing":                {gb200, "{}", ""},
		"another value":          {gb200, "{imex: driver}", `nvlink.imex`},
		"another key":            {gb200, "{imx: host}", "imx"},
		"NVLink inside of nodes": {string(site.Example()), "{imex: host}", "profile h100-sxm-ndr400 has no NVLink between nodes"},
		"a group with NVLink between nodes": {
			strings.Replace(string(site.Example()), "\nreach:\n", "\ngroups: [{name: new, profile: gb200-nvl72-ndr400, nodes: [gpu-04]}]\n\nreach:\n", 1), "{imex: dra}", "groups.0.profile",
		},
	} {
		_, err := site.Parse("s.yaml", []byte(tt.file+"\nnvlink: "+tt.keys+"\n"))
		switch {
		case tt.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		case err != nil && strings.HasPrefix(name, "a group") && strings.Contains(err.Error(), "nvlink"):
			t.Errorf("%s: %v", name, err)
		}
	}
}
