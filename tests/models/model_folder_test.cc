// Models of a Hugging Face cache: models--org--name/{blobs, refs/main, snapshots/COMMIT}, where a
// snapshot's files are links to ../../blobs.
#include "server/models/model_folder.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/status.h"
#include "server/models/registry.h"

namespace sinkd {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kCommit[] = "7e27bd9f95328f0f3b08261d1252705110c806f8";

class ModelFolderTest : public testing::Test {
 protected:
  ModelFolderTest() {
    std::string pattern = testing::TempDir() + "model_folderXXXXXX";
    top_ = fs::canonical(mkdtemp(pattern.data()));
    fs::create_directories(root());
    AddSnapshot(kCommit);
    Write(cache() / "refs" / "main", kCommit);
  }
  ~ModelFolderTest() override { fs::remove_all(top_); }

  fs::path root() const { return top_ / "models"; }
  fs::path cache() const { return top_ / "hub" / "models--Planted--Table"; }
  fs::path Snapshot(const std::string& commit) const { return cache() / "snapshots" / commit; }

  static void Write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  // A snapshot of a real checkpoint, each file a blob of its own.
  void AddSnapshot(const std::string& commit) const {
    const fs::path checkpoint = fs::path(SINKD_ORACLE_DIR) / "planted" / "planted-table";
    fs::create_directories(cache() / "blobs");
    fs::create_directories(Snapshot(commit));
    for (const auto& file : fs::directory_iterator(checkpoint)) {
      const std::string name = file.path().filename().string();
      const std::string blob = std::to_string(std::hash<std::string>()(name));
      fs::copy_file(file, cache() / "blobs" / blob, fs::copy_options::skip_existing);
      fs::create_symlink(fs::path("../../blobs") / blob, Snapshot(commit) / name);
    }
  }

  // Loads `id`, with its tokenizer.
  absl::Status Load(const std::string& id) const {
    Registry registry(root(), {});
    const absl::StatusOr<ModelEntry> entry = registry.Load(id, {}, {}, {});
    if (!entry.ok()) return entry.status();
    EXPECT_EQ(entry->spec->architecture, "qwen2");
    EXPECT_TRUE(entry->has_chat_template);
    return absl::OkStatus();
  }

  fs::path top_;
};

TEST_F(ModelFolderTest, ALinkedSnapshotLoadsWithBlobsOutsideTheRoot) {
  fs::create_directory_symlink(Snapshot(kCommit), root() / "planted");
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, ALinkedModelOfTheCacheStandsForTheSnapshotOfMain) {
  AddSnapshot("0123456789abcdef0123456789abcdef01234567");
  fs::create_directory_symlink(cache(), root() / "planted");
  EXPECT_EQ(ModelFolder(root() / "planted"), Snapshot(kCommit));
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, ACopiedModelOfTheCacheLoads) {
  fs::copy(cache(), root() / "planted",
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove_all(cache());
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, ACopiedSnapshotLoads) {
  fs::copy(Snapshot(kCommit), root() / "planted", fs::copy_options::recursive);
  fs::remove_all(cache());
  EXPECT_EQ(Load("planted"), absl::OkStatus());
}

TEST_F(ModelFolderTest, TheOnlySnapshotNeedsNoReference) {
  fs::remove_all(cache() / "refs");
  EXPECT_EQ(ModelFolder(cache()), Snapshot(kCommit));
  AddSnapshot("0123456789abcdef0123456789abcdef01234567");
  EXPECT_EQ(ModelFolder(cache()), cache());
}

TEST_F(ModelFolderTest, AReferenceIsFollowedToAFolderOfSnapshotsAlone) {
  Write(cache() / "refs" / "main", std::string(kCommit) + "\n");
  EXPECT_EQ(ModelFolder(cache()), Snapshot(kCommit));
  for (const std::string reference : {"../blobs", "..", "/etc", "gone"}) {
    Write(cache() / "refs" / "main", reference);
    EXPECT_NE(ModelFolder(cache()), cache() / "blobs") << reference;
  }
  EXPECT_EQ(ModelFolder(cache()), cache());
}

TEST_F(ModelFolderTest, AMissingBlobIsNamedByTheFileThatLinksToIt) {
  fs::create_directory_symlink(cache(), root() / "planted");
  const fs::path link = Snapshot(kCommit) / "model.safetensors";
  const std::string blob = fs::read_symlink(link).string();
  fs::remove(fs::canonical(link));
  const absl::Status status = Load("planted");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("model.safetensors is a link to " + blob + ", which is missing"));
}

TEST_F(ModelFolderTest, ASnapshotThatIsMissingSaysSo) {
  fs::create_directory_symlink(cache(), root() / "planted");
  fs::remove_all(Snapshot(kCommit));
  const absl::Status status = Load("planted");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("refs/main names no snapshot"));
}

TEST_F(ModelFolderTest, APlainFolderIsItself) {
  Write(root() / "plain" / "config.json", "{}");
  EXPECT_EQ(ModelFolder(root() / "plain"), root() / "plain");
  EXPECT_EQ(ModelFolder(root() / "nothing"), fs::path());
  EXPECT_EQ(ModelFolder(root() / "plain" / "config.json"), fs::path());
}

}  // namespace
}  // namespace sinkd
