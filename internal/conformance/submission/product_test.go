package submission

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
)

func TestProductFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, old, new string
		want           []string
	}{
		{"complete", "", "", nil},
		{"no directory", "directory: turbo\n", "", []string{`missing: missing key "directory"`}},
		{"a directory elsewhere", "directory: turbo", "directory: ../turbo", []string{`bad-value: invalid directory "../turbo"`}},
		{"a hidden directory", "directory: turbo", "directory: .turbo", []string{`bad-value: invalid directory ".turbo"`}},
		{"a placeholder", "platformName: Turbo Encabulator", `platformName: "[Platform Name]"`, []string{"placeholder: platformName"}},
		{"no optional key", "  repoUrl: https://github.example/yoyo/turbo\n", "", nil},
		{"a key is missing", "  contactEmailAddress: turbo@yoyo.example\n", "", []string{"metadata-missing: contactEmailAddress"}},
		{"its own version", "metadata:\n", "metadata:\n  kubernetesVersion: v1.36.2\n", nil},
		{"another version", "metadata:\n", "metadata:\n  kubernetesVersion: v1.34\n", []string{"kubernetes-version: v1.34"}},
		{"a number", `platformVersion: "1.20"`, "platformVersion: 1.20", []string{`metadata-text: write "1.20"`}},
		{"a status", "    notes: Volcano", "    status: Implemented\n    notes: Volcano", []string{`unknown-key: unknown key "status"`}},
		{"an unknown requirement", "  gang_scheduling:", "  gang_sheduling:", []string{`requirement-unknown: did you mean "gang_scheduling"?`}},
		{"a requirement of another version", "  gang_scheduling:", "  dra_support:", []string{`requirement-unknown: 1.36 has no requirement "dra_support"`}},
		{"a file as evidence", "[https://yoyo.example/turbo/docs/gangs]", "[gangs.md]", []string{`not-an-address: evidence of gang_scheduling is "gangs.md": must be a public URL`}},
		{"a bitmap logo", "turbo.svg", "turbo.png", []string{"logo-format: turbo.png"}},
		{"many at once", "directory: turbo\nmetadata:\n  platformName: Turbo Encabulator", "diretory: turbo\nmetadata:\n  platformName: \"\"", []string{"unknown-key: diretory", "missing: directory", "metadata-missing: platformName is empty"}},
		{"invalid YAML", "metadata:", "metadata: {", []string{"syntax: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(productText, tt.old) {
				t.Fatalf("%q not found in the product file", tt.old)
			}
			got, err := ReadProduct("product.yaml", []byte(strings.Replace(productText, tt.old, tt.new, 1)), checklist(t))
			problems, _ := errors.AsType[diag.List](err)
			if err != nil && problems == nil {
				t.Fatal(err)
			}
			compare(t, tt.want, problems)
			if err == nil && (got.Directory != "turbo" || !strings.HasPrefix(got.Metadata["kubernetesVersion"], "v1.36")) {
				t.Errorf("%+v", got)
			}
		})
	}
}
