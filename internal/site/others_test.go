package site_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// A pattern that hides nodes of the site is refused.
func TestOthers(t *testing.T) {
	t.Parallel()
	for others, says := range map[string]string{
		`[ufm-*, "storage-* mlx5_[01]", 0xb8599f030022626e]`: "",
		`["* mlx5_8"]`:       "",
		`["*"]`:              `"*" matches "leaf-1"`,
		`["gpu-0?*"]`:        `matches "gpu-01 mlx5_0"`,
		`[spine-4]`:          `matches "spine-4"`,
		`["[ufm"]`:           "invalid pattern",
		`[""]`:               "invalid pattern",
		`[0x0]`:              "invalid GUID",
		`["0xstorage"]`:      "invalid GUID",
		`[ufm-01, "ufm-01"]`: "ufm-01",
	} {
		text := strings.Replace(string(site.Example()), "\nfabric:\n", "\nfabric:\n  others: "+others+"\n", 1)
		_, err := site.Parse("s.yaml", []byte(text))
		switch {
		case says == "" && err != nil && strings.Contains(err.Error(), "others"):
			t.Errorf("%s: %v", others, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v, want %q", others, err, says)
		}
	}
}
