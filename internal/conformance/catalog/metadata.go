package catalog

import (
	"strings"
	"unicode"
)

// Field is a key of a Document's metadata.
type Field struct {
	Key string
	// Optional says that it may be left out or empty.
	Optional bool
	// URL says that its value is an address.
	URL bool
}

// Fields are the keys of metadata, in the order of the checklists.
//
// Source: https://github.com/cncf/k8s-ai-conformance/blob/122012f22d92383449f1fb9714e3873c9e417b45/scripts/validate.go
func Fields() []Field {
	return []Field{
		{Key: KubernetesVersion},
		{Key: "platformName"},
		{Key: "platformVersion"},
		{Key: VendorName},
		{Key: "websiteUrl", URL: true},
		{Key: "repoUrl", Optional: true, URL: true},
		{Key: "documentationUrl", URL: true},
		{Key: ProductLogo, URL: true},
		{Key: "description"},
		{Key: "contactEmailAddress"},
		{Key: K8sConformance, URL: true},
	}
}

// Keys of metadata that have rules of their own.
const (
	KubernetesVersion = "kubernetesVersion"
	VendorName        = "vendorName"
	ProductLogo       = "productLogoUrl"
	K8sConformance    = "k8sConformanceUrl"
)

// Snake is the other spelling of a key that the programme takes: product_logo_url.
func Snake(key string) string {
	var b strings.Builder
	for i, r := range key {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Placeholder reports whether a value is a placeholder of the checklist.
func Placeholder(value string) bool {
	return strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]")
}
