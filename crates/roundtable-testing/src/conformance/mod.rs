//! What every store has to do, whatever it is made of. A backend runs [`all`] on a factory of
//! empty stores.

mod directory;
mod fixture;
mod inbox;
mod lease;
mod log;
mod quota;
mod search;
mod vectors;

use roundtable_ports::Store;

/// Runs the whole suite.
pub async fn all(make: &(dyn Fn() -> Store + Sync)) {
    log::appends_are_ordered_and_read_back(&make()).await;
    log::an_append_after_another_head_is_a_conflict(&make()).await;
    log::a_command_is_in_once(&make()).await;
    log::a_command_without_events_is_remembered_too(&make()).await;
    log::s23_a_body_that_no_reader_takes_is_refused_and_nothing_is_written(&make()).await;
    log::a_fork_reads_through_its_lineage(&make()).await;
    log::pages_of_any_size_are_the_same_log(&make()).await;
    log::a_snapshot_is_overwritten_and_fenced(&make()).await;
    log::there_is_no_snapshot_of_what_is_not_there(&make()).await;
    log::drafts_are_overwritten_and_cleared(&make()).await;
    log::many_sessions_append_at_once(&make()).await;
    lease::a_stale_writer_is_fenced_in_the_commit(&make()).await;
    lease::a_writer_that_let_go_is_fenced(&make()).await;
    lease::drafts_are_fenced(&make()).await;
    lease::a_living_owner_keeps_its_session(&make()).await;
    lease::a_claim_that_comes_to_nothing_leaves_no_trace(&make()).await;
    lease::f11_of_many_nodes_that_claim_at_once_one_gets_it(&make()).await;
    lease::f35_a_session_whose_owners_die_three_times_in_a_row_is_parked(&make()).await;
    lease::f35_a_session_that_is_under_way_or_let_go_counts_afresh(&make()).await;
    lease::f35_a_session_that_panics_three_times_within_ten_minutes_is_parked(&make()).await;
    inbox::a_command_is_listed_for_the_owner_and_nobody_else(&make()).await;
    inbox::an_answer_is_taken_once(&make()).await;
    inbox::the_first_answer_stands(&make()).await;
    inbox::an_id_names_one_command_of_one_session(&make()).await;
    inbox::the_bell_rings_for_posts_and_answers(&make()).await;
    directory::the_bell_rings_after_a_ring(&make()).await;
    directory::the_directory_knows_what_is_due(&make()).await;
    directory::the_directory_finds_the_newest_of_those_that_are_asked_for(&make()).await;
    directory::the_directory_lists_archived_sessions_when_they_are_asked_for(&make()).await;
    directory::the_directory_lists_completions_only_by_their_kind(&make()).await;
    directory::f38_a_deleted_session_is_gone_and_its_writer_stays_fenced(&make()).await;
    directory::the_directory_knows_when_something_is_due_next(&make()).await;
    directory::what_living_nodes_own_does_not_hide_what_is_due(&make()).await;
    quota::s25_what_is_spent_counts_for_its_day_and_its_owner(&make()).await;
    quota::s25_reservations_are_counted_in_the_order_in_which_they_were_made(&make()).await;
    quota::s25_sessions_running_rounds_and_bytes_are_counted_per_owner(&make()).await;
    search::messages_are_found_by_their_words_in_any_form(&make()).await;
    search::a_phrase_is_found_where_its_words_follow_each_other(&make()).await;
    search::of_many_messages_the_best_come_first_page_by_page(&make()).await;
    search::s19_no_query_is_syntax(&make()).await;
    search::s01_nothing_of_another_tenant_is_found(&make()).await;
    search::archived_sessions_are_found_when_they_are_asked_for(&make()).await;
    search::s26_a_whisper_is_found_by_those_who_sent_or_received_it(&make()).await;
    search::messages_of_takes_that_do_not_count_are_not_found(&make()).await;
    search::f38_a_deleted_session_is_not_found_and_gets_no_vectors(&make()).await;
    search::messages_without_a_vector_are_listed_until_they_have_one(&make()).await;
    vectors::the_nearest_are_found_the_best_first(&make()).await;
    vectors::a_vector_is_replaced_and_removed_by_its_key(&make()).await;
    vectors::a_batch_goes_in_whole_or_not_at_all(&make()).await;
    vectors::s26_nothing_is_found_outside_of_the_scopes_that_were_named(&make()).await;
    vectors::spaces_are_worlds_of_their_own(&make()).await;
    vectors::f37_what_is_erased_is_gone_from_the_search_too(&make()).await;
    vectors::many_put_and_search_at_once(&make()).await;
}
