// SPDX-License-Identifier: Apache-2.0

// Reads an SBOM as the SPDX project's own library does, and prints the names of its packages: sbom FILE
package main

import (
	"fmt"
	"os"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err == nil {
		document, failure := json.Read(file)
		if failure == nil {
			failure = spdxlib.ValidateDocument(document)
		}
		if err = failure; err == nil {
			for _, one := range document.Packages {
				fmt.Println(one.PackageName)
			}
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
