package pregate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

// Every file of a Helm release is read before a run: one that is missing, empty or of another kind is
// a problem that names its key, and no problem has a file's content.
func TestCheckFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret, blank, values := write("password", "s3cret\n"), write("blank", " \n"), write("values.yaml", "")
	absent := filepath.Join(dir, "absent")
	for name, c := range map[string]struct {
		helm    site.Helm
		mirrors map[string]string
		want    string
	}{
		"all there":         {site.Helm{Chart: "oci://r/a", User: "u", PasswordFile: secret, ValuesFiles: []string{values}}, nil, ""},
		"none":              {site.Helm{Chart: "oci://r/a"}, nil, ""},
		"no password":       {site.Helm{Chart: "oci://r/a", PasswordFile: absent}, nil, "prepare.0.helm.passwordFile: cannot read the file: open " + absent},
		"an empty password": {site.Helm{Chart: "oci://r/a", PasswordFile: blank}, nil, "prepare.0.helm.passwordFile: " + blank + " is empty"},
		"of a mirror":       {site.Helm{Chart: "oci://r/a", PasswordFile: absent}, map[string]string{"oci://r/a": "/srv/a.tgz"}, ""},
		"no authority":      {site.Helm{Chart: "oci://r/a", CAFile: absent}, nil, "prepare.0.helm.caFile: cannot read the file"},
		"no certificate":    {site.Helm{Chart: "oci://r/a", CAFile: secret}, nil, "prepare.0.helm.caFile: " + secret + ": no PEM certificate"},
		"no values":         {site.Helm{Chart: "oci://r/a", ValuesFile: absent}, nil, "prepare.0.helm.valuesFiles: cannot read the file"},
	} {
		s := &site.Site{Prepare: []site.Prepare{{Gate: "gpustack", Helm: &c.helm}}}
		s.Reach.Charts = c.mirrors
		err := CheckFiles(s)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: the problem has the password: %v", name, err)
		}
	}
	if err := CheckFiles(&site.Site{Prepare: []site.Prepare{{Command: []string{"true"}}}}); err != nil {
		t.Error(err)
	}
}
