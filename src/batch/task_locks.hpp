#pragma once

#include <string>

namespace tutti::batch {

/// Which tasks of a results folder are being run, by any process on any machine that shares the folder.
/// A running task has locked one byte of the file tasks/lock, the byte that the hash of its key names. The
/// system drops the locks of a process that ends, however it ends. Locks belong to the process, so one
/// process has at most one object of this class for a folder. On a file system without locks every lock()
/// succeeds.
class TaskLocks {
  public:
    /// Makes the file if need be. Throws OutputError.
    explicit TaskLocks(const std::string& results);
    TaskLocks(const TaskLocks&) = delete;
    TaskLocks& operator=(const TaskLocks&) = delete;
    ~TaskLocks();

    /// False if another process has it.
    [[nodiscard]] bool lock(const std::string& key) const;
    void unlock(const std::string& key) const;
    /// Every task at once; false if another process has one of them.
    [[nodiscard]] bool lock_all() const;
    void unlock_all() const;

  private:
    int file_ = -1;
};

}  // namespace tutti::batch
